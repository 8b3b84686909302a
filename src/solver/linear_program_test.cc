#include "solver/linear_program.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Solves; a failure ends the test.
LinearSolution solved(const LinearProgram& program) { return *solve(program); }

double dot(const LinearRow& row, const std::vector<double>& values) {
  double sum = 0;
  for (const LinearTerm& term : row.terms) {
    sum += term.factor * values[static_cast<std::size_t>(term.variable)];
  }
  return sum;
}

double cost_of(const LinearProgram& program, const std::vector<double>& values) {
  double cost = 0;
  for (std::size_t j = 0; j < values.size(); ++j) cost += program.variables[j].cost * values[j];
  return cost;
}

bool keeps(const LinearProgram& program, const std::vector<double>& values, double tolerance) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    const LinearVariable& variable = program.variables[j];
    if (values[j] < variable.min - tolerance || values[j] > variable.max + tolerance) return false;
  }
  return std::all_of(program.rows.begin(), program.rows.end(), [&](const LinearRow& row) {
    const double sum = dot(row, values);
    return sum >= row.min - tolerance && sum <= row.max + tolerance;
  });
}

/// The properties of every optimal solution.
void expect_sound(const LinearProgram& program, const LinearSolution& solution) {
  ASSERT_EQ(solution.outcome, LinearOutcome::kOptimal);
  ASSERT_EQ(solution.values.size(), program.variables.size());
  EXPECT_TRUE(keeps(program, solution.values, 1e-8));
  EXPECT_NEAR(solution.cost, cost_of(program, solution.values), 1e-9);
  for (std::size_t j = 0; j < solution.values.size(); ++j) {
    EXPECT_GE(solution.values[j], program.variables[j].min);
    EXPECT_LE(solution.values[j], program.variables[j].max);
    if (program.variables[j].integer) {
      EXPECT_EQ(solution.values[j], std::round(solution.values[j]));
    }
  }
}

// Dantzig's example: the most of 3x + 5y with x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18 is 36 at (2, 6). One
// more in the second row gives 3/2, in the third 1; the first is slack. Costs are negated here.
TEST(LinearProgram, SolvesTheTextbookExample) {
  const LinearProgram program{.variables = {{.cost = -3}, {.cost = -5}},
                              .rows = {{.terms = {{0, 1}}, .max = 4},
                                       {.terms = {{1, 2}}, .max = 12},
                                       {.terms = {{0, 3}, {1, 2}}, .max = 18}}};
  const LinearSolution solution = solved(program);
  expect_sound(program, solution);
  EXPECT_NEAR(solution.values[0], 2, 1e-12);
  EXPECT_NEAR(solution.values[1], 6, 1e-12);
  EXPECT_NEAR(solution.cost, -36, 1e-12);
  EXPECT_LE(solution.bound, -36);
  EXPECT_NEAR(solution.bound, -36, 1e-8);
  ASSERT_EQ(solution.prices.size(), 3U);
  EXPECT_NEAR(solution.prices[0], 0, 1e-12);
  EXPECT_NEAR(solution.prices[1], -1.5, 1e-12);
  EXPECT_NEAR(solution.prices[2], -1, 1e-12);
}

// A free variable, an equality and a row with two sides: least x + 2y with x + y = 3 and
// −1 ≤ x − y ≤ 5. As x + 2y = 6 − x, x is to be large: x − y = 5 gives x = 4, y = −1, cost 2.
TEST(LinearProgram, TakesFreeVariablesEqualitiesAndTwoSidedRows) {
  const LinearProgram program{
      .variables = {{.cost = 1, .min = -kInfinity}, {.cost = 2, .min = -kInfinity}},
      .rows = {{.terms = {{0, 1}, {1, 1}}, .min = 3, .max = 3},
               {.terms = {{0, 1}, {1, -1}}, .min = -1, .max = 5}}};
  const LinearSolution solution = solved(program);
  expect_sound(program, solution);
  EXPECT_NEAR(solution.values[0], 4, 1e-12);
  EXPECT_NEAR(solution.values[1], -1, 1e-12);
  EXPECT_NEAR(solution.bound, 2, 1e-8);
}

// Costs of a trillionth of the usual: the best is still x = 2, y = 6.
TEST(LinearProgram, DoesNotMindTheUnitOfTheCost) {
  for (const double unit : {1e-12, 1e12}) {
    const LinearProgram program{.variables = {{.cost = -3 * unit}, {.cost = -5 * unit, .max = 6}},
                                .rows = {{.terms = {{0, 3}, {1, 2}}, .max = 18}}};
    const LinearSolution solution = solved(program);
    EXPECT_NEAR(solution.cost / unit, -36, 1e-10);
    EXPECT_NEAR(solution.prices[0] / unit, -1, 1e-10);
    EXPECT_NEAR(solution.bound / unit, -36, 1e-6);
  }
}

// x + x ≤ 3 is x ≤ 1.5; y − y is nothing at all.
TEST(LinearProgram, AddsTermsOfTheSameVariable) {
  const LinearProgram program{.variables = {{.cost = -1}, {.cost = -1, .max = 7}},
                              .rows = {{.terms = {{0, 1}, {1, 1}, {0, 1}, {1, -1}}, .max = 3}}};
  const LinearSolution solution = solved(program);
  EXPECT_NEAR(solution.values[0], 1.5, 1e-12);
  EXPECT_EQ(solution.values[1], 7);
  EXPECT_NEAR(solution.bound, -8.5, 1e-8);
}

TEST(LinearProgram, TellsInfeasibleFromUnbounded) {
  const LinearRow sum_below{.terms = {{0, 1}, {1, 1}}, .max = -1};
  const LinearRow equal{.terms = {{0, 1}, {1, -1}}, .min = 0, .max = 0};
  for (const bool integer : {false, true}) {
    LinearProgram program{.variables = {{.cost = -1, .integer = integer}, {.cost = -1}}};
    program.rows = {equal};
    EXPECT_EQ(solved(program).outcome, LinearOutcome::kUnbounded);
    // The costs could fall without end if anything kept the rows.
    program.rows = {{.terms = {{0, 1}}, .max = -1}};
    EXPECT_EQ(solved(program).outcome, LinearOutcome::kInfeasible);
    program.rows = {equal, sum_below};
    EXPECT_EQ(solved(program).outcome, LinearOutcome::kInfeasible);
    EXPECT_TRUE(solved(program).values.empty());
  }
}

// 2x = 1 has no integer x, whatever falls without end beside it.
TEST(LinearProgram, FindsNoIntegerWhereThereIsNone) {
  LinearProgram program{.variables = {{.integer = true}, {.cost = 1}},
                        .rows = {{.terms = {{0, 2}}, .min = 1, .max = 1}}};
  EXPECT_EQ(solved(program).outcome, LinearOutcome::kInfeasible);
  program.variables[1].cost = -1;
  EXPECT_EQ(solved(program).outcome, LinearOutcome::kInfeasible);
  program.variables[0] = {.min = 0.2, .max = 0.8, .integer = true};
  program.rows.clear();
  EXPECT_EQ(solved(program).outcome, LinearOutcome::kInfeasible);
}

TEST(LinearProgram, CallsAnEmptyRangeInfeasible) {
  EXPECT_EQ(solved({.variables = {{.min = 2, .max = 1}}}).outcome, LinearOutcome::kInfeasible);
  EXPECT_EQ(solved({.variables = {{}}, .rows = {{.terms = {{0, 1}}, .min = 2, .max = 1}}}).outcome,
            LinearOutcome::kInfeasible);
}

TEST(LinearProgram, SolvesWithoutRowsOrVariables) {
  EXPECT_EQ(solved({}).outcome, LinearOutcome::kOptimal);
  EXPECT_EQ(solved({}).cost, 0);
  EXPECT_EQ(solved({.rows = {{.min = -1, .max = 1}}}).outcome, LinearOutcome::kOptimal);
  EXPECT_EQ(solved({.rows = {{.min = 1}}}).outcome, LinearOutcome::kInfeasible);
  EXPECT_EQ(solved({.variables = {{.cost = -1}}}).outcome, LinearOutcome::kUnbounded);
  EXPECT_EQ(solved({.variables = {{.cost = -1, .integer = true}}}).outcome,
            LinearOutcome::kUnbounded);
  // Each at its better end: −2 · 3 + 1 · (−4) = −10.
  for (const bool integer : {false, true}) {
    const LinearSolution solution =
        solved({.variables = {{.cost = -2, .max = 3, .integer = integer}, {.cost = 1, .min = -4}}});
    EXPECT_EQ(solution.values, (std::vector<double>{3, -4}));
    EXPECT_EQ(solution.cost, -10);
    EXPECT_NEAR(solution.bound, -10, 1e-12);
  }
}

// The most of 5x + 4y with 6x + 4y ≤ 24 and x + 2y ≤ 6 is 21 at (3, 1.5); among integers it is 20
// at (4, 0), as (3, 1) gives 19 and (2, 2) gives 18.
TEST(LinearProgram, BranchesOnIntegers) {
  LinearProgram program{
      .variables = {{.cost = -5, .integer = true}, {.cost = -4, .integer = true}},
      .rows = {{.terms = {{0, 6}, {1, 4}}, .max = 24}, {.terms = {{0, 1}, {1, 2}}, .max = 6}}};
  const LinearSolution solution = solved(program);
  expect_sound(program, solution);
  EXPECT_EQ(solution.values, (std::vector<double>{4, 0}));
  EXPECT_EQ(solution.cost, -20);
  EXPECT_NEAR(solution.bound, -21, 1e-8);
  EXPECT_TRUE(solution.prices.empty());
}

/// A program whose rows are hard for branch and bound: Σ 2x = odd.
LinearProgram hopeless_parity() {
  LinearProgram program{.rows = {{.min = 15, .max = 15}}, .nodes_max = 20};
  for (int j = 0; j < 15; ++j) {
    program.variables.push_back({.cost = 1.0 + j, .max = 1, .integer = true});
    program.rows[0].terms.push_back({j, 2});
  }
  return program;
}

TEST(LinearProgram, FailsWhenItRunsOutOfNodes) {
  const auto solution = solve(hopeless_parity());
  ASSERT_FALSE(solution.ok());
  EXPECT_EQ(solution.error().message,
            "cannot solve an integer program within its node limit; raise the limit");
}

/// Whole numbers from `low` to `high`.
std::vector<double> draws(Random& random, int count, int low, int high) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(low + random.below(high - low + 1));
  return numbers;
}

// In every other, items cost nearly the same: CBC by itself stops 1e-5 short of the best.
TEST(LinearProgram, PacksKnapsacksAsWellAsTryingAll) {
  for (int seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int items = 1 + random.below(11);
    LinearProgram program{.rows = {{.max = 0}, {.max = 0}}};
    for (LinearRow& row : program.rows) {
      for (int j = 0; j < items; ++j) row.terms.push_back({j, random.uniform(1, 10)});
      row.max = random.uniform(0, 5.0 * items);
    }
    for (int j = 0; j < items; ++j) {
      const double cost = random.uniform(-1, seed % 2 == 0 ? 0.1 : -1 + 1e-6);
      program.variables.push_back({.cost = cost, .max = 1, .integer = true});
    }
    double best = 0;
    for (unsigned chosen = 0; chosen < 1U << static_cast<unsigned>(items); ++chosen) {
      std::vector<double> values;
      for (int j = 0; j < items; ++j) values.push_back(chosen >> static_cast<unsigned>(j) & 1U);
      if (keeps(program, values, 0)) best = std::min(best, cost_of(program, values));
    }
    const LinearSolution solution = solved(program);
    expect_sound(program, solution);
    EXPECT_NEAR(solution.cost, best, 1e-9);
    EXPECT_LE(solution.bound, best);
  }
}

// One variable is no integer: once the others are tried, it goes to the better end of what is left.
TEST(LinearProgram, SolvesMixedProgramsAsWellAsTryingAll) {
  int infeasible = 0;
  for (int seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    LinearProgram program{.variables = {{.cost = random.uniform(-1, 1), .max = 10}}};
    for (int j = 0; j < 3; ++j) {
      program.variables.push_back({.cost = random.uniform(-1, 1), .max = 3.5, .integer = true});
    }
    for (int i = 0; i < 3; ++i) {
      LinearRow row{.min = random.uniform(-6, 6)};
      for (int j = 0; j < 4; ++j) row.terms.push_back({j, random.uniform(-3, 3)});
      program.rows.push_back(row);
    }
    double best = kInfinity;
    for (int tried = 0; tried < 64; ++tried) {
      std::vector<double> values = {0, double(tried & 3), double(tried >> 2 & 3),
                                    double(tried >> 4)};
      double min = 0;
      double max = 10;
      for (const LinearRow& row : program.rows) {
        const double end = (row.min - dot(row, values)) / row.terms[0].factor;
        (row.terms[0].factor > 0 ? min : max) =
            row.terms[0].factor > 0 ? std::max(min, end) : std::min(max, end);
      }
      if (min > max) continue;
      values[0] = program.variables[0].cost > 0 ? min : max;
      best = std::min(best, cost_of(program, values));
    }
    const LinearSolution solution = solved(program);
    if (std::isinf(best)) {
      ++infeasible;
      EXPECT_EQ(solution.outcome, LinearOutcome::kInfeasible);
      continue;
    }
    expect_sound(program, solution);
    EXPECT_NEAR(solution.cost, best, 1e-7);
    EXPECT_LE(solution.bound, best + 1e-12);
  }
  EXPECT_GT(infeasible, 5);
}

/// A plane normal · x = offset.
struct Plane {
  std::vector<double> normal;
  double offset = 0;
};

double determinant(const std::vector<std::vector<double>>& a) {
  if (a.size() == 2) return a[0][0] * a[1][1] - a[0][1] * a[1][0];
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

/// The intersection of the planes, by Cramer's rule.
std::optional<std::vector<double>> meeting(const std::vector<Plane>& planes) {
  std::vector<std::vector<double>> a;
  for (const Plane& plane : planes) a.push_back(plane.normal);
  const double all = determinant(a);
  if (all == 0) return {};
  std::vector<double> point;
  for (std::size_t j = 0; j < planes.size(); ++j) {
    auto replaced = a;
    for (std::size_t i = 0; i < planes.size(); ++i) replaced[i][j] = planes[i].offset;
    point.push_back(determinant(replaced) / all);
  }
  return point;
}

/// The sides of all ranges.
std::vector<Plane> sides_of(const LinearProgram& program) {
  std::vector<Plane> sides;
  const std::size_t size = program.variables.size();
  for (std::size_t j = 0; j < size; ++j) {
    std::vector<double> normal(size);
    normal[j] = 1;
    sides.push_back({normal, program.variables[j].min});
    sides.push_back({normal, program.variables[j].max});
  }
  for (const LinearRow& row : program.rows) {
    std::vector<double> normal(size);
    for (const LinearTerm& term : row.terms) {
      normal[static_cast<std::size_t>(term.variable)] = term.factor;
    }
    if (std::isfinite(row.min)) sides.push_back({normal, row.min});
    if (std::isfinite(row.max)) sides.push_back({normal, row.max});
  }
  return sides;
}

/// The least cost over all vertices, infinite without any; variables have both bounds.
double best_vertex(const LinearProgram& program) {
  const std::vector<Plane> sides = sides_of(program);
  double best = kInfinity;
  const std::function<void(std::vector<Plane>, std::size_t)> choose =
      [&](const std::vector<Plane>& chosen, std::size_t first) {
        if (chosen.size() == program.variables.size()) {
          const auto point = meeting(chosen);
          if (!point || !keeps(program, *point, 1e-9)) return;
          best = std::min(best, cost_of(program, *point));
          return;
        }
        for (std::size_t i = first; i < sides.size(); ++i) {
          auto more = chosen;
          more.push_back(sides[i]);
          choose(more, i + 1);
        }
      };
  choose({}, 0);
  return best;
}

LinearProgram walled(LinearProgram program, double wall) {
  for (LinearVariable& variable : program.variables) variable.max = std::min(variable.max, wall);
  return program;
}

/// Whole numbers, many of them equal or zero, so that degenerate programs are common.
LinearProgram random_program(Random& random) {
  const int size = 2 + random.below(2);
  LinearProgram program;
  for (const double cost : draws(random, size, -3, 6)) {
    program.variables.push_back({.cost = cost, .max = random.below(2) == 0 ? 4 : kInfinity});
  }
  const int rows = random.below(4);
  for (int i = 0; i < rows; ++i) {
    LinearRow row;
    const auto factors = draws(random, size, -4, 4);
    for (int j = 0; j < size; ++j) row.terms.push_back({j, factors[static_cast<std::size_t>(j)]});
    if (random.below(3) > 0) row.min = -2 + random.below(8);
    if (random.below(3) > 0) row.max = random.below(9);
    program.rows.push_back(row);
  }
  return program;
}

// Factors are at most 4 and sides at most 8, so that a vertex without a wall has coordinates up to
// 3 · 8 · 2 · 16 = 768 at most. Where moving the wall from 10⁴ on moves the best vertex, there is
// no best.
TEST(LinearProgram, AgreesWithTheBestOfAllVertices) {
  int outcomes[3] = {};
  for (int seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const LinearProgram program = random_program(random);
    const double best = best_vertex(walled(program, 1e4));
    const LinearSolution solution = solved(program);
    ++outcomes[static_cast<int>(solution.outcome)];
    if (std::isinf(best)) {
      EXPECT_EQ(solution.outcome, LinearOutcome::kInfeasible);
    } else if (best_vertex(walled(program, 2e4)) < best - 1) {
      EXPECT_EQ(solution.outcome, LinearOutcome::kUnbounded);
    } else {
      expect_sound(program, solution);
      EXPECT_NEAR(solution.cost, best, 1e-9);
      EXPECT_LE(solution.bound, best + 1e-13 * std::abs(best));
      EXPECT_NEAR(solution.bound, best, 1e-7);
    }
  }
  for (const int count : outcomes) EXPECT_GT(count, 20);
}

/// `rows` covering constraints over `size` variables, all feasible.
LinearProgram covering(Random& random, int size, int rows) {
  LinearProgram program;
  for (int j = 0; j < size; ++j) program.variables.push_back({.cost = random.uniform(1, 2)});
  for (int i = 0; i < rows; ++i) {
    LinearRow row{.min = random.uniform(1, 10)};
    for (int j = 0; j < size; ++j) row.terms.push_back({j, random.uniform()});
    program.rows.push_back(row);
  }
  return program;
}

// By duality: prices of rows that are only bounded below are none below zero, are worth what the
// solution costs, and make no variable cheaper than free.
TEST(LinearProgram, GivesPricesThatProveTheCost) {
  for (int seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const LinearProgram program = covering(random, 60, 20);
    const LinearSolution solution = solved(program);
    expect_sound(program, solution);
    double worth = 0;
    std::vector<double> reduced;
    for (const LinearVariable& variable : program.variables) reduced.push_back(variable.cost);
    for (std::size_t i = 0; i < program.rows.size(); ++i) {
      EXPECT_GE(solution.prices[i], -1e-12);
      worth += solution.prices[i] * program.rows[i].min;
      for (const LinearTerm& term : program.rows[i].terms) {
        reduced[static_cast<std::size_t>(term.variable)] -= term.factor * solution.prices[i];
      }
    }
    EXPECT_NEAR(worth, solution.cost, 1e-9);
    EXPECT_GE(*std::min_element(reduced.begin(), reduced.end()), -1e-9);
    EXPECT_NEAR(solution.bound, solution.cost, 1e-7);
  }
}

// With as many dense equalities as free variables there is one solution, and its basis is dense.
TEST(LinearProgram, FactorisesADenseBasis) {
  Random random(7);
  LinearProgram program;
  std::vector<double> values;
  for (int j = 0; j < 80; ++j) {
    program.variables.push_back({.cost = random.normal(), .min = -100, .max = 100});
    values.push_back(random.uniform(-5, 5));
  }
  for (int i = 0; i < 80; ++i) {
    LinearRow row;
    for (int j = 0; j < 80; ++j) row.terms.push_back({j, random.normal()});
    row.min = row.max = dot(row, values);
    program.rows.push_back(row);
  }
  const LinearSolution solution = solved(program);
  ASSERT_EQ(solution.values.size(), values.size());
  for (std::size_t j = 0; j < 80; ++j) EXPECT_NEAR(solution.values[j], values[j], 1e-6);
  EXPECT_NEAR(solution.bound, solution.cost, 1e-6);
}

TEST(LinearProgram, AnswersTheSameEachTime) {
  Random random(3);
  LinearProgram program = covering(random, 20, 8);
  for (const bool integer : {false, true}) {
    for (LinearVariable& variable : program.variables) variable.integer = integer;
    const LinearSolution first = solved(program);
    for (int i = 0; i < 3; ++i) {
      const LinearSolution again = solved(program);
      EXPECT_EQ(again.values, first.values);
      EXPECT_EQ(again.bound, first.bound);
      EXPECT_EQ(again.prices, first.prices);
    }
  }
}

TEST(LinearProgram, PrintsNothingAndLeavesSignalsAlone) {
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGINT, nullptr, &before), 0);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Random random(5);
  LinearProgram program = covering(random, 12, 5);
  (void)solve(program);
  for (LinearVariable& variable : program.variables) variable.integer = true;
  (void)solve(program);
  program.rows.push_back({.terms = {{0, 1}}, .max = -1});
  (void)solve(program);
  (void)solve({.variables = {{.cost = -1}}});
  (void)solve({.variables = {{.cost = -1, .integer = true}}});
  (void)solve(hopeless_parity());
  (void)solve({});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  struct sigaction after = {};
  ASSERT_EQ(sigaction(SIGINT, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

}  // namespace
}  // namespace stint
