#include "converge/noise_belief.h"

#include <cmath>
#include <gtest/gtest.h>

#include "converge/steps.h"

namespace stint {
namespace {

NoisePrior flat(double log_ratio, double deviation) {
  NoisePrior prior{.level_deviation = deviation, .shape_deviation = deviation / 10};
  prior.mean.fill(log_ratio);
  return prior;
}

// Φ is nine times the reference batch of 10, and known: at batch 30 the power of B makes it
// 90 √3 = 156, and a step is worth (15.6 + 1)/(5.2 + 1).
TEST(NoiseBelief, IsTheLawWhereNoiseIsKnown) {
  const NoiseBelief belief(flat(std::log(9.0), 1e-6), 10);
  const double batches[] = {10, 30};
  const LogBelief steps = belief.steps_left(LearningRateRule::kAdaScale, 0, 1000, 10, batches);
  EXPECT_NEAR(std::exp(steps.mean[0]), 1000, 1e-6);
  const double gain =
      step_gain(LearningRateRule::kAdaScale, 90 * std::sqrt(3.0), {.reference = 10, .batch = 30});
  EXPECT_NEAR(std::exp(steps.mean[1]), 1000 / gain, 1e-6);
  const LogBelief half = belief.steps_left(LearningRateRule::kAdaScale, 0.5, 1000, 10, batches);
  EXPECT_NEAR(std::exp(half.mean[1]), 500 / gain, 1e-6);
}

TEST(NoiseBelief, FollowsItsRecords) {
  NoiseBelief belief(flat(0, 2), 10);
  const double batches[] = {10, 80};
  const auto steps = [&] {
    return belief.steps_left(LearningRateRule::kAdaScale, 0, 1000, 10, batches);
  };
  const LogBelief before = steps();
  for (int i = 0; i < 20; ++i) belief.add({.way = 0.02 * i, .batch = 10, .scale = 5000});
  const LogBelief after = steps();
  EXPECT_LT(after.mean[1], before.mean[1] - 0.5) << "noise makes large batches worth their size";
  EXPECT_NEAR(std::exp(after.mean[1]), 1000.0 / 8, 15);
  EXPECT_LT(after.variance(1), before.variance(1) / 2);
}

// A job that starts with less noise than others has less later, but its noise grows as theirs does.
TEST(NoiseBelief, BelievesInGrowthBeforeItIsSeen) {
  NoiseBelief belief(universal_noise_prior(), 10);
  belief.add({.way = 0, .batch = 10, .scale = 50});
  const double batches[] = {80};
  const LogBelief early = belief.steps_left(LearningRateRule::kAdaScale, 0, 1000, 10, batches);
  const LogBelief late = belief.steps_left(LearningRateRule::kAdaScale, 0.9, 1000, 10, batches);
  EXPECT_LT(10 * std::exp(late.mean[0]), std::exp(early.mean[0]));
}

TEST(NoiseBelief, IsLessSureOfOtherBatches) {
  NoiseBelief belief(universal_noise_prior(), 10);
  const double batches[] = {10, 20, 160};
  const LogBelief steps = belief.steps_left(LearningRateRule::kAdaScale, 0, 1000, 10, batches);
  EXPECT_NEAR(steps.variance(0), 0, 1e-12) << "the goal is stated at this batch";
  EXPECT_LT(steps.variance(1), steps.variance(2));
  EXPECT_GT(steps.between(1, 2), 0);
  EXPECT_NEAR(steps.between(1, 2), steps.between(2, 1), 1e-12);
}

}  // namespace
}  // namespace stint
