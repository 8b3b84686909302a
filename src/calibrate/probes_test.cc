#include "calibrate/probes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "calibrate/priors_fixture.h"

namespace stint {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

StepRow row_of(const std::string& job, std::vector<int> by_vm, double batch) {
  return {.job = job, .device = "T4", .workers_by_vm = std::move(by_vm), .batch_per_worker = batch};
}

std::vector<StepRow> alone_rows() {
  std::vector<StepRow> rows;
  for (const char* job : {"seen", "unseen"}) {
    for (const double batch : {16.0, 32.0, 64.0}) {
      StepRow& row = rows.emplace_back(row_of(job, {1}, batch));
      row.time = (0.02 + 0.003 * batch) * kSecond;
    }
  }
  return rows;
}

/// A seeded symmetric matrix with all its eigenvalues above zero: D (I + 0.3 R Rᵀ) D.
Matrix random_covariance(const Vector& deviations, std::uint64_t seed) {
  Random random(seed);
  const std::size_t n = deviations.size();
  Matrix factor(n, Vector(n));
  for (Vector& line : factor) {
    for (double& cell : line) cell = random.normal() / std::sqrt(static_cast<double>(n));
  }
  Matrix covariance(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      double sum = i == k ? 1 : 0;
      for (std::size_t m = 0; m < n; ++m) sum += 0.3 * factor[i][m] * factor[k][m];
      covariance[i][k] = deviations[i] * sum * deviations[k];
    }
  }
  return covariance;
}

/// A law in which the job "seen" was fitted and "unseen" was not.
FittedTable table_of(std::uint64_t seed) {
  const LawPriors priors = bundled_priors();
  FittedLaw law{.priors = priors, .fabric = priors.fabric, .jobs = {}, .solution = {}};
  Vector deviations;
  for (const auto& [name, field] : law_names(FabricLaw{})) {
    law.solution.values.push_back(priors.fabric.*field);
    deviations.push_back(0.5 * priors.fabric_deviation.*field);
  }
  law.jobs["seen"] = {.law = {}, .rows = 3, .first_unknown = deviations.size(), .noise = 1.5};
  for (const auto& [name, field] : law_names(JobLaw{})) {
    law.solution.values.push_back(0);
    deviations.push_back(0.7 * priors.job_deviation.*field);
  }
  law.solution.covariance = random_covariance(deviations, seed);
  law.dispersion = 1.3;
  return {.law = law, .alone = OneWorkerTimes(alone_rows()), .rows = {}};
}

std::vector<StepRow> configs_of(const std::string& job) {
  std::vector<StepRow> rows;
  for (const double batch : {16.0, 32.0, 64.0}) {
    for (const std::vector<int>& by_vm :
         std::vector<std::vector<int>>{{1}, {4}, {1, 1}, {1, 1, 1}, {4, 4}, {2, 1}, {4, 4, 4, 4}}) {
      rows.push_back(row_of(job, by_vm, batch));
    }
  }
  return rows;
}

/// The inverse, by elimination with the largest element of each column.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    a[i].resize(2 * n, 0.0);
    a[i][n + i] = 1;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i; k < n; ++k) {
      if (std::abs(a[k][i]) > std::abs(a[pivot][i])) pivot = k;
    }
    std::swap(a[i], a[pivot]);
    const double divisor = a[i][i];
    for (double& cell : a[i]) cell /= divisor;
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a[k][i];
      if (k == i || factor == 0) continue;
      for (std::size_t m = 0; m < 2 * n; ++m) a[k][m] -= factor * a[i][m];
    }
  }
  for (Vector& line : a) line.erase(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(n));
  return a;
}

/// The criterion of the choice, written out as whole matrices.
struct Dense {
  Matrix information;  // Inverse of the covariance before anything is measured.
  Matrix slopes;       // One line per row.
  Vector noise;
};

Dense dense_of(const FittedTable& table, const std::vector<StepRow>& configs) {
  Dense dense;
  const FittedLaw& law = table.law;
  for (const StepRow& config : configs) {
    const auto row = law_row(config, table.alone, {});
    CHECK(row.ok());
    dense.slopes.push_back(law.slopes(row->job, row->size_known, row->input));
    dense.noise.push_back(law.noise_variance(
        row->job, row->input, law_time(law.fabric, law.job_law(row->job), row->input)));
  }
  Matrix covariance = law.solution.covariance;
  const std::size_t fitted = covariance.size();
  const std::size_t unknowns = dense.slopes.front().size();
  covariance.resize(unknowns);
  for (Vector& line : covariance) line.resize(unknowns, 0.0);
  for (std::size_t i = fitted; i < unknowns; ++i) {
    const double deviation =
        law.dispersion * law.priors.job_deviation.*law_names(JobLaw{})[i - fitted].second;
    covariance[i][i] = deviation * deviation;
  }
  dense.information = inverse(covariance);
  return dense;
}

/// The variance of all rows together once `measured` are known: Σ_t g_tᵀ (Σ⁻¹ + Σ_i g_i g_iᵀ/v_i)⁻¹
/// g_t.
double variance_after(const Dense& dense, const std::set<std::size_t>& measured) {
  Matrix information = dense.information;
  for (const std::size_t row : measured) {
    const Vector& g = dense.slopes[row];
    for (std::size_t i = 0; i < g.size(); ++i) {
      for (std::size_t k = 0; k < g.size(); ++k)
        information[i][k] += g[i] * g[k] / dense.noise[row];
    }
  }
  const Matrix covariance = inverse(information);
  double sum = 0;
  for (const Vector& g : dense.slopes) {
    for (std::size_t i = 0; i < g.size(); ++i) {
      for (std::size_t k = 0; k < g.size(); ++k) sum += g[i] * covariance[i][k] * g[k];
    }
  }
  return sum;
}

/// The row that leaves the least variance beside those measured, found by trying all.
std::size_t best_next(const Dense& dense, const std::set<std::size_t>& measured) {
  std::size_t best = dense.slopes.size();
  double least = 0;
  for (std::size_t i = 0; i < dense.slopes.size(); ++i) {
    if (measured.contains(i)) continue;
    std::set<std::size_t> with = measured;
    with.insert(i);
    const double variance = variance_after(dense, with);
    if (best == dense.slopes.size() || variance < least) {
      best = i;
      least = variance;
    }
  }
  return best;
}

std::vector<std::size_t> chosen(const FittedTable& table, const std::vector<StepRow>& configs,
                                int count) {
  const auto probes = choose_probes(table, configs, {}, count);
  EXPECT_EQ(probes.size(), 1U);
  return probes.begin()->second;
}

TEST(Probes, TheFirstIsTheBestOfAllRows) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    const FittedTable table = table_of(seed);
    for (const char* job : {"seen", "unseen"}) {
      const auto configs = configs_of(job);
      EXPECT_EQ(chosen(table, configs, 1),
                std::vector<std::size_t>{best_next(dense_of(table, configs), {})});
    }
  }
}

TEST(Probes, AreThoseOfAComputationWithWholeMatrices) {
  for (const std::uint64_t seed : {4U, 5U}) {
    SCOPED_TRACE(seed);
    const FittedTable table = table_of(seed);
    for (const char* job : {"seen", "unseen"}) {
      const auto configs = configs_of(job);
      const Dense dense = dense_of(table, configs);
      std::set<std::size_t> measured;
      for (int i = 0; i < 5; ++i) measured.insert(best_next(dense, measured));
      const auto greedy = chosen(table, configs, 5);
      EXPECT_EQ(std::set<std::size_t>(greedy.begin(), greedy.end()), measured) << job;
    }
  }
}

TEST(Probes, LeaveLessUncertaintyThanTheFirstRowsOfTheTable) {
  const FittedTable table = table_of(6);
  const auto configs = configs_of("unseen");
  const Dense dense = dense_of(table, configs);
  const auto greedy = chosen(table, configs, 4);
  EXPECT_LT(variance_after(dense, {greedy.begin(), greedy.end()}),
            variance_after(dense, {0, 1, 2, 3}));
}

TEST(Probes, MeasuredColumnsAreIgnored) {
  const FittedTable table = table_of(7);
  auto configs = configs_of("unseen");
  const auto before = chosen(table, configs, 4);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    configs[i].time = static_cast<double>(1 + i * i) * kSecond;
    configs[i].synchronisation = 1 * kHour;
    configs[i].repeat = 1 * kHour;
  }
  EXPECT_EQ(chosen(table, configs, 4), before);
}

TEST(Probes, NoRowIsChosenTwiceAndFewerRowsAreAllChosen) {
  const FittedTable table = table_of(8);
  auto configs = configs_of("seen");
  configs.resize(3);
  EXPECT_EQ(chosen(table, configs, 9), (std::vector<std::size_t>{0, 1, 2}));
  const auto two = chosen(table, {configs[1], configs[1], configs[1]}, 2);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_LT(two[0], two[1]);
}

// Jobs take turns in the table; each has its own count, and numbers are those of the table.
TEST(Probes, EachJobHasItsOwn) {
  const FittedTable table = table_of(9);
  const auto seen = configs_of("seen");
  const auto unseen = configs_of("unseen");
  std::vector<StepRow> mixed;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    mixed.push_back(seen[i]);
    mixed.push_back(unseen[i]);
  }
  const auto probes = choose_probes(table, mixed, {}, 3);
  ASSERT_EQ(probes.size(), 2U);
  const auto expect_same = [&](const char* job, const std::vector<StepRow>& configs,
                               std::size_t offset) {
    auto expected = chosen(table, configs, 3);
    for (std::size_t& row : expected) row = 2 * row + offset;
    EXPECT_EQ(probes.at(job), expected) << job;
  };
  expect_same("seen", seen, 0);
  expect_same("unseen", unseen, 1);
}

TEST(Probes, RowsOfWhichNothingIsKnownAreNotChosen) {
  const FittedTable table = table_of(10);
  auto configs = configs_of("seen");
  configs.resize(2);
  configs[0].unusable = "out of memory";
  configs.push_back(row_of("never measured", {2, 2}, 32));
  const auto probes = choose_probes(table, configs, {}, 2);
  EXPECT_EQ(probes, (std::map<std::string, std::vector<std::size_t>>{{"seen", {1}}}));
  EXPECT_TRUE(choose_probes(table, {}, {}, 2).empty());
}

}  // namespace
}  // namespace stint
