#include "calibrate/step_belief.h"

#include <cmath>
#include <gtest/gtest.h>

#include "calibrate/priors_fixture.h"

namespace stint {
namespace {

constexpr Bytes kGradients = 100 * kMB;
constexpr ComputePrior kCompute{.floor = 0, .floor_deviation = 1, .time = -2, .time_deviation = 1};

/// The shipped priors as if they had been fitted.
/// A network slow enough for communication to show in every setup.
FittedLaw law_of_priors() {
  LawPriors priors = bundled_priors();
  priors.fabric.two_vm_cost = 1;
  priors.fabric.cost = 0.5;
  FittedLaw law{.priors = priors, .fabric = priors.fabric, .jobs = {}, .solution = {}};
  const auto names = law_names(FabricLaw{});
  law.solution.covariance.assign(names.size(), std::vector<double>(names.size(), 0.0));
  for (std::size_t i = 0; i < names.size(); ++i) {
    law.solution.values.push_back(priors.fabric.*names[i].second);
    const double deviation = priors.fabric_deviation.*names[i].second;
    law.solution.covariance[i][i] = deviation * deviation;
  }
  return law;
}

LawInput setup(int vms, int each, double batch) {
  return {.batch_per_worker = batch,
          .gradients = kGradients,
          .vms = vms,
          .workers = vms * each,
          .workers_on_fullest_vm = each};
}

/// The time of a job whose network costs `dearer` times the usual.
Seconds truth(const FittedLaw& law, LawInput input, double dearer) {
  input.alone = 0.002 * (input.batch_per_worker + 16) * kSecond;
  return law_time(law.fabric, {.cost = std::log(dearer)}, input);
}

std::vector<LawInput> all_setups() {
  std::vector<LawInput> setups;
  for (const int vms : {1, 2, 4, 8}) {
    for (const double batch : {16.0, 64.0, 256.0}) setups.push_back(setup(vms, 2, batch));
  }
  return setups;
}

TEST(StepBelief, KnowsWhatItTimed) {
  const FittedLaw law = law_of_priors();
  StepBelief belief(law, kCompute, 16, true);
  const std::vector<LawInput> setups = all_setups();
  std::vector<std::optional<Seconds>> timed(setups.size());
  timed[4] = 0.7 * kSecond;
  ASSERT_TRUE(belief.add({.input = setups[4], .time = *timed[4]}).ok());
  const LogBelief times = belief.at(setups, timed);
  EXPECT_NEAR(std::exp(times.mean[4]), 0.7, 1e-9);
  EXPECT_LT(times.variance(4), 1e-3);
  for (std::size_t i = 0; i < setups.size(); ++i) {
    EXPECT_EQ(times.between(i, 4) == 0, i != 4) << i;
    if (i != 4) {
      EXPECT_GT(times.variance(i), times.variance(4)) << i;
    }
  }
}

// The more is timed, the nearer and the surer is the rest.
TEST(StepBelief, LearnsFromEachSetup) {
  const FittedLaw law = law_of_priors();
  const std::vector<LawInput> setups = all_setups();
  StepBelief belief(law, kCompute, 16, true);
  std::vector<std::optional<Seconds>> timed(setups.size());
  std::vector<double> errors;
  std::vector<double> variances;
  for (const std::size_t next : {3U, 11U, 0U, 6U}) {
    timed[next] = truth(law, setups[next], 2);
    ASSERT_TRUE(belief.add({.input = setups[next], .time = *timed[next]}).ok());
    const LogBelief times = belief.at(setups, timed);
    double error = 0;
    double variance = 0;
    for (std::size_t i = 0; i < setups.size(); ++i) {
      error += std::abs(times.mean[i] - std::log(truth(law, setups[i], 2).in(kSecond)));
      variance += times.variance(i);
    }
    errors.push_back(error / static_cast<double>(setups.size()));
    variances.push_back(variance);
  }
  EXPECT_LT(errors.back(), 0.1);
  EXPECT_LT(errors.back(), errors.front());
  for (std::size_t i = 1; i < variances.size(); ++i) EXPECT_LT(variances[i], variances[i - 1]);
}

StepRow alone(const std::string& job, double batch, double seconds) {
  return {.job = job, .workers_by_vm = {1}, .batch_per_worker = batch, .time = seconds * kSecond};
}

// T = 0.01 (b + 8) with smallest batch 4: b₀ is twice that. Drawn to one half by one job.
TEST(StepBelief, ComputeOfOtherJobsTellsTheFloor) {
  std::vector<StepRow> rows;
  for (const double batch : {4.0, 8.0, 16.0}) rows.push_back(alone("a", batch, 0.01 * (batch + 8)));
  const ComputePrior prior = compute_prior(rows, {});
  EXPECT_NEAR(prior.floor, (std::log(2.0) + std::log(0.5)) / 2, 1e-9);
  rows.push_back(alone("b", 4, 1));  // One batch has no information.
  EXPECT_EQ(compute_prior(rows, {}).floor, prior.floor);
  EXPECT_NEAR(compute_prior({}, {}).floor, std::log(0.5), 1e-12);
}

}  // namespace
}  // namespace stint
