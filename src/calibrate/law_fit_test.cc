#include "calibrate/law_fit.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/random.h"
#include "calibrate/priors_fixture.h"

namespace stint {
namespace {

/// A fabric unlike the prior: bytes between VMs cost a third of its value.
FabricLaw true_fabric() {
  FabricLaw fabric = bundled_priors().fabric;
  fabric.two_vm_cost = 0.2;
  fabric.cost = -0.5;
  fabric.cost_by_workers = 0.5;
  fabric.inside_cost = -2;
  fabric.crowding_inside = -2;
  fabric.straggling = 0.05;
  return fabric;
}

struct Job {
  std::string name;
  Bytes gradients;
  Seconds alone;  // At a batch of 32.
};

const Job kSmall{"small", 40 * kMB, 60 * kMillisecond};
const Job kMiddle{"middle", 100 * kMB, 150 * kMillisecond};
const Job kLarge{"large", 400 * kMB, 300 * kMillisecond};

LawInput placed(const Job& job, int vms, int per_vm) {
  return {.alone = job.alone,
          .batch_per_worker = 32,
          .gradients = job.gradients,
          .vms = vms,
          .workers = vms * per_vm,
          .workers_on_fullest_vm = per_vm};
}

/// Rows of `job` under a law, each times e^{deviation · z}.
std::vector<LawRow> rows_of(const Job& job, const JobLaw& law = {}, double deviation = 0,
                            std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<LawRow> rows;
  for (const int vms : {1, 2, 3, 4, 8, 16}) {
    for (const int per_vm : {1, 4}) {
      for (const double batch_factor : {0.5, 1.0}) {
        if (vms * per_vm == 1) continue;
        LawInput input = placed(job, vms, per_vm);
        input.alone = batch_factor * input.alone;
        input.batch_per_worker *= batch_factor;
        const Seconds time = law_time(true_fabric(), law, input);
        rows.push_back({.job = job.name,
                        .input = input,
                        .time = std::exp(deviation * random.normal()) * time});
      }
    }
  }
  return rows;
}

std::vector<LawRow> joined(std::initializer_list<std::vector<LawRow>> parts) {
  std::vector<LawRow> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

FittedLaw fitted(std::span<const LawRow> rows) {
  auto law = fit_law(rows, bundled_priors());
  CHECK(law.ok());
  return *law;
}

double error_of(const FittedLaw& law, const LawRow& row) {
  return std::abs(law.predict(row.job, row.size_known, row.input).time / row.time - 1);
}

double mean_error(const FittedLaw& law, std::span<const LawRow> rows) {
  double sum = 0;
  for (const LawRow& row : rows) sum += error_of(law, row);
  return sum / static_cast<double>(rows.size());
}

std::size_t index_of(const std::string& name) {
  std::size_t i = 0;
  for (const auto& [constant, field] : law_names(FabricLaw{})) {
    if (constant == name) return i;
    ++i;
  }
  CHECK(false);
}

// e^{−1.2816 · 0.1} = 0.8797 and e^{1.2816 · 0.1} = 1.1367.
TEST(LawEstimate, HoldsEightInTenBetweenItsEnds) {
  const LawEstimate estimate{.time = 1 * kSecond, .spread = {.below = 0.1, .above = 0.1}};
  EXPECT_NEAR(estimate.p10().in(kSecond), 0.8797, 1e-4);
  EXPECT_NEAR(estimate.p90().in(kSecond), 1.1367, 1e-4);
}

TEST(LawPriors, AreReadFromTheBundledFile) {
  const LawPriors priors = bundled_priors();
  EXPECT_EQ(priors.fabric.latency, -7.8);
  EXPECT_EQ(priors.fabric_deviation.latency, 0.6);
  EXPECT_EQ(priors.job_deviation.size, 1.5);
  EXPECT_EQ(priors.noise_floor, 0.03);
  EXPECT_EQ(priors.noise_exposed, 0.12);
}

TEST(LawPriors, AreRefusedWithTheNameOfWhatIsMissing) {
  const auto text = read_file(STINT_SOURCE "/data/calibration/priors.json");
  Calibration calibration = read_calibration(*text, "priors.json")->noun;
  calibration.constants[3].prior_deviation.reset();
  EXPECT_EQ(law_priors(calibration).error().message,
            "the calibration priors lacks cost_by_vms or its prior_deviation");
  calibration = read_calibration(*text, "priors.json")->noun;
  calibration.constants.pop_back();
  const auto priors = law_priors(calibration);
  ASSERT_FALSE(priors.ok());
  EXPECT_EQ(priors.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(priors.error().message.find("noise_exposed"), std::string::npos);
}

TEST(FitLaw, RecoversConstantsFromRowsOfItsOwn) {
  const auto rows = joined({rows_of(kSmall), rows_of(kMiddle), rows_of(kLarge)});
  const FittedLaw law = fitted(rows);
  EXPECT_TRUE(law.solution.converged);
  EXPECT_LT(mean_error(law, rows), 0.01);
  for (const auto& [name, field] : law_names(FabricLaw{})) {
    const std::size_t i = index_of(name);
    EXPECT_NEAR(law.fabric.*field, true_fabric().*field, std::sqrt(law.solution.covariance[i][i]))
        << name;
  }
  for (const char* name : {"two_vm_cost", "cost", "cost_by_workers", "inside_cost"}) {
    EXPECT_TRUE(law.solution.identified[index_of(name)]) << name;
  }
  EXPECT_EQ(law.jobs.at("small").rows, rows.size() / 3);
}

TEST(FitLaw, LeavesConstantsWithoutDataAtTheirPrior) {
  const FittedLaw law = fitted(rows_of(kMiddle));
  const LawPriors priors = bundled_priors();
  for (const char* name : {"server_cost", "server_latency", "cost_by_network"}) {
    const std::size_t i = index_of(name);
    const auto field = law_names(FabricLaw{})[i].second;
    EXPECT_NEAR(law.fabric.*field, priors.fabric.*field, 1e-9) << name;
    EXPECT_NEAR(std::sqrt(law.solution.covariance[i][i]), priors.fabric_deviation.*field, 1e-6);
    EXPECT_FALSE(law.solution.identified[i]) << name;
  }
}

TEST(FitLaw, WithoutRowsIsThePrior) {
  const FittedLaw law = fitted({});
  EXPECT_TRUE(law.jobs.empty());
  EXPECT_EQ(law.fabric.cost, bundled_priors().fabric.cost);
  const LawEstimate estimate = law.predict("any", true, placed(kLarge, 4, 1));
  // The prior knows the cost of a byte to e^2: far from a prediction, as the interval shows.
  EXPECT_GT(estimate.spread.above, 0.5);
}

TEST(FitLaw, IsHardlyMovedByAnOutlier) {
  auto rows = joined({rows_of(kSmall, {}, 0.03, 5), rows_of(kLarge, {}, 0.03, 6)});
  const FittedLaw clean = fitted(rows);
  const std::size_t spoiled = rows.size() - 1;
  rows[spoiled].time = 5 * rows[spoiled].time;
  const FittedLaw law = fitted(rows);
  rows.pop_back();
  for (const LawRow& row : rows) {
    const double moved =
        law.predict(row.job, true, row.input).time / clean.predict(row.job, true, row.input).time;
    EXPECT_NEAR(moved, 1, 0.06);
  }
  EXPECT_LT(mean_error(law, rows), mean_error(clean, rows) + 0.01);
}

// The job has 400 MB; its rows have 100 MB as a guess, and the fit must find ln 4 = 1.386.
TEST(FitLaw, LearnsTheSizeOfAJobFromItsRows) {
  auto hidden = rows_of({"hidden", 400 * kMB, 200 * kMillisecond}, {}, 0.02, 7);
  for (LawRow& row : hidden) {
    row.input.gradients = 100 * kMB;
    row.size_known = false;
  }
  const FittedLaw law = fitted(joined({hidden, rows_of(kSmall), rows_of(kLarge)}));
  EXPECT_NEAR(law.job_law("hidden").size, std::log(4), 0.2);
  EXPECT_LT(mean_error(law, hidden), 0.04);
  EXPECT_NEAR(law.job_law("small").size, 0, 1e-3);
}

TEST(FitLaw, SaysThatANoisyJobIsNoisier) {
  const auto quiet = rows_of(kSmall, {}, 0.01, 8);
  const auto noisy = rows_of(kMiddle, {}, 0.2, 9);
  const FittedLaw law = fitted(joined({quiet, noisy}));
  EXPECT_LT(law.jobs.at("small").noise, 1);
  EXPECT_GT(law.jobs.at("middle").noise, 1.3);
}

TEST(FitLaw, FindsTheSameFromAnotherStart) {
  const auto rows = joined({rows_of(kSmall, {}, 0.03, 10), rows_of(kLarge, {.cost = 0.3})});
  const FittedLaw law = fitted(rows);
  const FittedLaw elsewhere = fitted(rows_of(kMiddle));
  const auto again = fit_law(rows, bundled_priors(), &elsewhere);
  ASSERT_TRUE(again.ok());
  EXPECT_NEAR(again->solution.cost, law.solution.cost, 1e-6);
  EXPECT_LT(std::abs(again->fabric.cost - law.fabric.cost), 1e-3);
}

TEST(FitLaw, TellsAJobsOwnCostFromThePopulations) {
  const auto dear = rows_of(kMiddle, {.cost = 0.4});
  const FittedLaw law = fitted(joined({rows_of(kSmall), rows_of(kLarge), dear}));
  EXPECT_GT(law.job_law("middle").cost, 0.15);
  EXPECT_LT(mean_error(law, dear), 0.03);
  EXPECT_EQ(law.job_law("never seen").cost, 0);
}

TEST(FitLaw, ReportsRowsThatAreNotFinite) {
  auto rows = rows_of(kSmall);
  rows[2].time = std::numeric_limits<double>::infinity() * kSecond;
  const auto law = fit_law(rows, bundled_priors());
  ASSERT_FALSE(law.ok());
  EXPECT_NE(law.error().message.find("row 2"), std::string::npos) << law.error().message;
}

TEST(FitLawDeathTest, NeedsTimes) {
  auto rows = rows_of(kSmall);
  rows[2].time = Seconds{};
  EXPECT_DEATH((void)fit_law(rows, bundled_priors()), "row.time > Seconds");
}

TEST(Predict, IsWiderForAJobNeverSeen) {
  const FittedLaw law = fitted(joined({rows_of(kSmall), rows_of(kMiddle)}));
  for (const int vms : {1, 2, 4, 16}) {
    const LawInput input = placed(kMiddle, vms, 4);
    // Far from the measured clusters the fabric's doubt outweighs the jobs', so they are alike.
    EXPECT_GT(law.predict("unseen", true, input).spread.above,
              0.9 * law.predict("middle", true, input).spread.above);
    // The interval is still wider when even its size is unknown.
    EXPECT_GT(law.predict("unseen", false, input).spread.above,
              law.predict("unseen", true, input).spread.above);
  }
}

TEST(Predict, WidensWithTheDispersionOfJobs) {
  FittedLaw law = fitted(rows_of(kMiddle));
  const LawInput input = placed(kMiddle, 4, 4);
  const LawEstimate unseen = law.predict("unseen", true, input);
  const LawEstimate seen = law.predict("middle", true, input);
  law.dispersion = 2;
  EXPECT_GT(law.predict("unseen", true, input).spread.above, unseen.spread.above);
  EXPECT_EQ(law.predict("middle", true, input).spread.above, seen.spread.above);
}

// On two VMs the cost of more does not count, and the job's own cost counts at least as much as the
// fabric's. A size that is known has no slope.
TEST(Predict, SlopesAreTheDerivativesOfLogTime) {
  const FittedLaw law = fitted(rows_of(kLarge));
  const LawInput input = placed(kLarge, 2, 1);
  const auto slopes = law.slopes("large", true, input);
  ASSERT_EQ(slopes.size(), law.solution.values.size());
  EXPECT_GT(slopes[index_of("two_vm_cost")], 0.1);
  EXPECT_EQ(slopes[index_of("cost")], 0);
  const std::size_t first = law.jobs.at("large").first_unknown;
  EXPECT_GE(slopes[first], slopes[index_of("two_vm_cost")]);
  EXPECT_EQ(slopes[first + 7], 0);
  EXPECT_GT(law.slopes("large", false, input)[first + 7], 0);
  EXPECT_EQ(law.slopes("unseen", true, input).size(), slopes.size() + 8);
}

// Alone takes 3/4 of the time, so a quarter is exposed: 0.03² + (0.12/4)² = 0.0018. Steps uneven by
// 0.1 of two workers add (½ · 0.1 · (1 + 0.56419) · ¾)² = 0.0034407.
TEST(NoiseVariance, MatchesHandComputedCase) {
  const FittedLaw law{.priors = bundled_priors()};
  LawInput input{.alone = 3 * kSecond, .workers = 2};
  EXPECT_NEAR(law.noise_variance("any", input, 4 * kSecond), 0.0018, 1e-12);
  input.jitter = 0.1;
  EXPECT_NEAR(law.noise_variance("any", input, 4 * kSecond), 0.0018 + 0.0034407, 1e-7);
}

TEST(MeasureDispersion, IsSmallForJobsAlikeAndLargeForJobsApart) {
  const auto alike = joined({rows_of(kSmall), rows_of(kMiddle), rows_of(kLarge)});
  const auto apart = joined({rows_of(kSmall, {.cost = 1.2}), rows_of(kMiddle, {.cost = -1.2}),
                             rows_of(kLarge, {.cost = 1.2})});
  FittedLaw of_alike = fitted(alike);
  FittedLaw of_apart = fitted(apart);
  ASSERT_TRUE(measure_dispersion(of_alike, alike).ok());
  ASSERT_TRUE(measure_dispersion(of_apart, apart).ok());
  EXPECT_EQ(of_alike.dispersion, 1);  // Never below: few jobs cannot show that.
  EXPECT_GT(of_apart.dispersion, 1.5);
}

// Six equal jobs: an unseen one is as close to them as they are to each other.
TEST(MeasureDispersion, LearnsTheWidthOfIntervalsFromJobsHeldOut) {
  std::vector<LawRow> rows;
  for (int i = 0; i < 6; ++i) {
    Job job = kMiddle;
    job.name = std::to_string(i);
    const auto its = rows_of(job, {}, 0.01, 7 + static_cast<std::uint64_t>(i));
    rows.insert(rows.end(), its.begin(), its.end());
  }
  FittedLaw law = fitted(rows);
  const LawInput input = placed(kMiddle, 4, 4);
  const LawEstimate before = law.predict("unseen", true, input);
  ASSERT_TRUE(measure_dispersion(law, rows).ok());
  EXPECT_LT(law.unseen.below, 0.7);
  EXPECT_LT(law.unseen.above, 0.7);
  const LawEstimate after = law.predict("unseen", true, input);
  EXPECT_NEAR(after.spread.above, law.unseen.above * before.spread.above, 1e-12);
  EXPECT_NEAR(after.spread.below, law.unseen.below * before.spread.below, 1e-12);
  EXPECT_EQ(after.time, before.time);
}

TEST(MeasureDispersion, SaysNothingOfASingleJob) {
  const auto rows = rows_of(kSmall);
  FittedLaw law = fitted(rows);
  ASSERT_TRUE(measure_dispersion(law, rows).ok());
  EXPECT_EQ(law.dispersion, 1);
  EXPECT_EQ(law.unseen.above, 1);
}

}  // namespace
}  // namespace stint
