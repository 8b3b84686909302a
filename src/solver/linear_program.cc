#include "solver/linear_program.h"

#include <algorithm>
#include <cmath>
#include <coin/CbcModel.hpp>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinError.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/check.h"
#include "solver/dense_lu.h"

// CoinUtils asks LAPACK for these two when a basis is large and dense. Ours keep LAPACK, which has
// no usable static form, out of the release, and the answer the same whichever is installed.
extern "C" {
void dgetrf_(const int* rows, const int* columns, double* cells, const int* stride, int* pivots,
             int* info);
void dgetrs_(const char* transposed, const int* size, const int* sides, double* cells,
             const int* stride, const int* pivots, double* b, const int* b_stride, int* info, int);

void dgetrf_(const int* rows, const int* columns, double* cells, const int* stride, int* pivots,
             int* info) {
  CHECK(*rows == *columns);
  *info = stint::lu_factorise({*rows, *stride, cells}, pivots);
}

void dgetrs_(const char* transposed, const int* size, const int* sides, double* cells,
             const int* stride, const int* pivots, double* b, const int* b_stride, int* info, int) {
  const bool is_transposed = *transposed != 'N' && *transposed != 'n';
  for (std::ptrdiff_t side = 0; side < *sides; ++side) {
    stint::lu_solve({*size, *stride, cells}, pivots, is_transposed, b + side * *b_stride);
  }
  *info = 0;
}
}

namespace stint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-9;
// Range of a variable without a bound, as a multiple of the largest value.
constexpr double kReach = 1e6;
// Programs of our size take a few iterations per row; this many mean that the simplex does not
// converge.
constexpr int kIterationsMax = 1'000'000;

enum ClpStatus { kClpOptimal = 0, kClpInfeasible = 1, kClpUnbounded = 2 };

bool is_range(double min, double max) {
  return !std::isnan(min) && !std::isnan(max) && min < kInfinity && max > -kInfinity;
}

void check_program(const LinearProgram& program) {
  for (const LinearVariable& variable : program.variables) {
    CHECK(std::isfinite(variable.cost));
    CHECK(is_range(variable.min, variable.max));
  }
  const int size = static_cast<int>(program.variables.size());
  for (const LinearRow& row : program.rows) {
    CHECK(is_range(row.min, row.max));
    for (const LinearTerm& term : row.terms) {
      CHECK(std::isfinite(term.factor));
      CHECK(term.variable >= 0);
      CHECK(term.variable < size);
    }
  }
}

/// The same program with ranges of integers that begin and end at integers.
LinearProgram with_whole_ranges(LinearProgram program) {
  for (LinearVariable& variable : program.variables) {
    if (!variable.integer) continue;
    variable.min = std::ceil(variable.min);
    variable.max = std::floor(variable.max);
  }
  return program;
}

template <class Ranged>
bool has_empty_range(const std::vector<Ranged>& all) {
  return std::any_of(all.begin(), all.end(), [](const Ranged& one) { return one.min > one.max; });
}

/// The factors row by row, each variable at most once in a row.
CoinPackedMatrix matrix_of(const LinearProgram& program) {
  std::vector<double> factors;
  std::vector<int> variables;
  std::vector<CoinBigIndex> starts = {0};
  std::vector<double> sums(program.variables.size());
  for (const LinearRow& row : program.rows) {
    for (const LinearTerm& term : row.terms) {
      sums[static_cast<std::size_t>(term.variable)] += term.factor;
    }
    for (const LinearTerm& term : row.terms) {
      double& sum = sums[static_cast<std::size_t>(term.variable)];
      if (sum == 0) continue;
      factors.push_back(sum);
      variables.push_back(term.variable);
      sum = 0;
    }
    starts.push_back(static_cast<CoinBigIndex>(factors.size()));
  }
  return {false,
          static_cast<int>(program.variables.size()),
          static_cast<int>(program.rows.size()),
          static_cast<CoinBigIndex>(factors.size()),
          factors.data(),
          variables.data(),
          starts.data(),
          nullptr};
}

struct Ranges {
  std::vector<double> mins;
  std::vector<double> maxs;
};

template <class Ranged>
Ranges ranges_of(const std::vector<Ranged>& all) {
  Ranges ranges;
  for (const Ranged& one : all) {
    ranges.mins.push_back(std::max(one.min, -COIN_DBL_MAX));
    ranges.maxs.push_back(std::min(one.max, COIN_DBL_MAX));
  }
  return ranges;
}

/// The largest cost. Costs are divided by it, so that CLP's tolerances are relative to it.
double cost_unit(const LinearProgram& program) {
  double unit = 0;
  for (const LinearVariable& variable : program.variables) {
    unit = std::max(unit, std::abs(variable.cost));
  }
  return unit > 0 ? unit : 1;
}

std::vector<double> scaled_costs(const LinearProgram& program) {
  const double unit = cost_unit(program);
  std::vector<double> costs;
  for (const LinearVariable& variable : program.variables) costs.push_back(variable.cost / unit);
  return costs;
}

void load(const LinearProgram& program, ClpSimplex& simplex) {
  const Ranges columns = ranges_of(program.variables);
  const Ranges rows = ranges_of(program.rows);
  simplex.setLogLevel(0);
  simplex.loadProblem(matrix_of(program), columns.mins.data(), columns.maxs.data(),
                      scaled_costs(program).data(), rows.mins.data(), rows.maxs.data());
  simplex.setPrimalTolerance(kTolerance);
  simplex.setDualTolerance(kTolerance);
  simplex.setMaximumIterations(kIterationsMax);
}

Error lost() { return failed("cannot solve a linear program: the simplex method lost precision"); }

/// Solves without regard to integers. CLP reports a program as dual infeasible before it knows
/// whether it is feasible, so that feasibility is tested first, without costs.
Result<LinearOutcome> optimise(const LinearProgram& program, ClpSimplex& simplex) {
  simplex.dual();
  if (simplex.status() == kClpOptimal) return LinearOutcome::kOptimal;
  simplex.chgObjCoefficients(std::vector<double>(program.variables.size()).data());
  simplex.primal();
  if (simplex.status() == kClpInfeasible) return LinearOutcome::kInfeasible;
  if (simplex.status() != kClpOptimal) return lost();
  simplex.chgObjCoefficients(scaled_costs(program).data());
  simplex.primal();
  if (simplex.status() == kClpUnbounded) return LinearOutcome::kUnbounded;
  if (simplex.status() == kClpOptimal) return LinearOutcome::kOptimal;
  return lost();
}

/// A sum with a bound of its rounding error.
struct CarefulSum {
  long double value = 0;
  long double magnitude = 0;
  int terms = 2;  // Products and the last rounding count too.

  void add(long double term) {
    value += term;
    magnitude += std::abs(term);
    ++terms;
  }
  long double error() const {
    return magnitude * static_cast<long double>(terms) *
           std::numeric_limits<long double>::epsilon();
  }
};

/// The least of slope · x over the range, for the worst slope that rounding allows.
long double least_product(const CarefulSum& slope, long double min, long double max) {
  const long double low = slope.value - slope.error();
  const long double high = slope.value + slope.error();
  return std::min({low * min, low * max, high * min, high * max});
}

/// The dual value of the header, for prices, without those that have no bound.
double safe_bound(const LinearProgram& program, const LinearSolution& solution) {
  double reach = 1;
  for (const double value : solution.values) reach = std::max(reach, std::abs(value));
  reach *= kReach;

  CarefulSum bound;
  std::vector<CarefulSum> slopes(program.variables.size());
  for (std::size_t j = 0; j < slopes.size(); ++j) slopes[j].add(program.variables[j].cost);
  for (std::size_t i = 0; i < program.rows.size(); ++i) {
    const LinearRow& row = program.rows[i];
    const long double price = solution.prices[i];
    const double side = price > 0 ? row.min : row.max;
    if (price == 0 || std::isinf(side)) continue;
    bound.add(price * side);
    for (const LinearTerm& term : row.terms) {
      slopes[static_cast<std::size_t>(term.variable)].add(-price * term.factor);
    }
  }
  for (std::size_t j = 0; j < slopes.size(); ++j) {
    const LinearVariable& variable = program.variables[j];
    bound.add(least_product(slopes[j], std::isinf(variable.min) ? -reach : variable.min,
                            std::isinf(variable.max) ? reach : variable.max));
  }
  return std::nextafter(static_cast<double>(bound.value - bound.error()), -kInfinity);
}

/// Reads CLP's result.
LinearSolution read(const LinearProgram& program, const ClpSimplex& simplex) {
  LinearSolution solution;
  long double cost = 0;
  for (std::size_t j = 0; j < program.variables.size(); ++j) {
    const LinearVariable& variable = program.variables[j];
    const double value = simplex.primalColumnSolution()[j];
    solution.values.push_back(std::clamp(value, variable.min, variable.max));
    cost += static_cast<long double>(variable.cost) * solution.values.back();
  }
  solution.cost = static_cast<double>(cost);
  const double unit = cost_unit(program);
  for (std::size_t i = 0; i < program.rows.size(); ++i) {
    solution.prices.push_back(simplex.dualRowSolution()[i] * unit);
  }
  return solution;
}

/// Branches until the integers are integers, and fixes them in `program`. CBC's limits on what is
/// an improvement are in units of the cost, which `load` has scaled.
Result<LinearOutcome> fix_integers(ClpSimplex& simplex, LinearProgram& program) {
  OsiClpSolverInterface solver(&simplex);
  solver.messageHandler()->setLogLevel(0);
  for (std::size_t j = 0; j < program.variables.size(); ++j) {
    if (program.variables[j].integer) solver.setInteger(static_cast<int>(j));
  }
  CbcModel model(solver);
  model.setLogLevel(0);
  model.setMaximumNodes(program.nodes_max);
  model.setAllowableGap(0);
  model.setCutoffIncrement(kTolerance);
  model.branchAndBound();
  if (model.isNodeLimitReached()) {
    return failed("cannot solve an integer program within its node limit; raise the limit");
  }
  if (model.isProvenInfeasible()) return LinearOutcome::kInfeasible;
  if (!model.isProvenOptimal() || model.bestSolution() == nullptr) return lost();
  for (std::size_t j = 0; j < program.variables.size(); ++j) {
    LinearVariable& variable = program.variables[j];
    if (variable.integer) variable.min = variable.max = std::round(model.bestSolution()[j]);
  }
  return LinearOutcome::kOptimal;
}

/// `relaxed` is the solution without regard to integers, and `simplex` still holds it.
Result<LinearSolution> solve_integer(LinearProgram program, ClpSimplex& simplex,
                                     const LinearSolution& relaxed) {
  const bool unbounded = relaxed.outcome == LinearOutcome::kUnbounded;
  if (unbounded) simplex.chgObjCoefficients(std::vector<double>(program.variables.size()).data());
  const auto fixed = fix_integers(simplex, program);
  if (!fixed.ok()) return fixed.error();
  if (*fixed != LinearOutcome::kOptimal) return LinearSolution{.outcome = *fixed};
  // A feasible point can follow the ray of the others: costs are unbounded here too.
  if (unbounded) return relaxed;

  ClpSimplex rest;
  load(program, rest);
  const auto outcome = optimise(program, rest);
  if (!outcome.ok()) return outcome.error();
  if (*outcome != LinearOutcome::kOptimal) return lost();
  LinearSolution solution = read(program, rest);
  solution.bound = relaxed.bound;
  solution.prices.clear();
  return solution;
}

Result<LinearSolution> solve_ranged(const LinearProgram& program) {
  ClpSimplex simplex;
  load(program, simplex);
  const auto outcome = optimise(program, simplex);
  if (!outcome.ok()) return outcome.error();
  LinearSolution solution{.outcome = *outcome};
  if (*outcome == LinearOutcome::kOptimal) {
    solution = read(program, simplex);
    solution.bound = safe_bound(program, solution);
  }
  const bool has_integers = std::any_of(program.variables.begin(), program.variables.end(),
                                        [](const LinearVariable& one) { return one.integer; });
  if (!has_integers || *outcome == LinearOutcome::kInfeasible) return solution;
  return solve_integer(program, simplex, solution);
}

}  // namespace

Result<LinearSolution> solve(const LinearProgram& program) {
  check_program(program);
  const LinearProgram ranged = with_whole_ranges(program);
  if (has_empty_range(ranged.variables) || has_empty_range(ranged.rows)) {
    return LinearSolution{.outcome = LinearOutcome::kInfeasible};
  }
  try {
    return solve_ranged(ranged);
  } catch (const CoinError& error) {
    return failed("cannot solve a linear program: " + error.message());
  }
}

}  // namespace stint
