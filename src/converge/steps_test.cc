#include "converge/steps.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr BatchChange kFourfold{.reference = 100, .batch = 400};

// Φ = 100, from 100 to 400 samples: r = (1 + 1)/(0.25 + 1) = 1.6, below 4, 2, and above 1.
TEST(StepGain, IsWhatTheRuleAndTheNoiseAllow) {
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kAdaScale, 100, kFourfold), 1.6);
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kLinear, 100, kFourfold), 1.6);
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kSquareRoot, 100, kFourfold), 1.6);
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kFixed, 100, kFourfold), 1);
}

// With Φ = 10⁶ the noise allows r = 10001/2501 = 3.9988: nearly perfect scaling, and the square
// root's 2.
TEST(StepGain, IsPerfectWhileTheNoiseIsLarge) {
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kLinear, 1e6, kFourfold), 10001.0 / 2501);
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kSquareRoot, 1e6, kFourfold), 2);
}

// A quarter of the batch, Φ = 100: r = 2/5 = 0.4, above the linear rule's 0.25.
TEST(StepGain, HoldsForSmallerBatchesToo) {
  const BatchChange smaller{.reference = 100, .batch = 25};
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kAdaScale, 100, smaller), 0.4);
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kLinear, 100, smaller), 0.25);
  EXPECT_DOUBLE_EQ(step_gain(LearningRateRule::kFixed, 100, smaller), 0.4);
}

// Φ is 100 at batch 100 and 100 · √4 = 200 at 400: r = 3/1.5 = 2, so 1000 reference steps take 500.
TEST(StepsToProgress, DividesTheReferencesStepsByTheGain) {
  const NoisePoint points[] = {{.batch = 100, .progress = 0, .scale = 100}};
  const NoiseCurve curve(points);
  const StepsToGoal steps =
      steps_to_progress(curve, LearningRateRule::kAdaScale, kFourfold, 1000 * 100);
  EXPECT_NEAR(steps.steps, 500, 1e-6);
  EXPECT_NEAR(steps.samples(400), 200'000, 1e-3);
  // Φ/e^0.513 and Φ·e^0.513 give r = (1 + Φ/100)/(1 + Φ/400) of 1.6648 and 2.3352.
  const double factor = std::exp(std::hypot(0.3, 0.3 * std::log(4.0)));
  const auto limit = [](double scale) { return (1 + scale / 100) / (1 + scale / 400); };
  EXPECT_NEAR(steps.deviation_noise, std::log(limit(200 * factor) / limit(200 / factor)) / 2, 1e-9);
  EXPECT_NEAR(steps.deviation, std::hypot(steps.deviation_noise, 0.05 * std::log(4.0)), 1e-9);
}

TEST(StepsToProgress, IsCertainAtTheReference) {
  const NoisePoint points[] = {{.batch = 100, .progress = 0, .scale = 100}};
  const StepsToGoal steps = steps_to_progress(NoiseCurve(points), LearningRateRule::kAdaScale,
                                              {.reference = 100, .batch = 100}, 5000);
  EXPECT_NEAR(steps.steps, 50, 1e-9);
  EXPECT_NEAR(steps.deviation, 0, 1e-12);
}

// The linear rule's learning rate of 4 is twice what r = 2 allows: half of ln 2 is added.
TEST(StepsToProgress, TrustsALearningRateLessThatIsTooLarge) {
  const NoisePoint points[] = {{.batch = 100, .progress = 0, .scale = 100}};
  const NoiseCurve curve(points);
  const StepsToGoal safe = steps_to_progress(curve, LearningRateRule::kAdaScale, kFourfold, 1e5);
  const StepsToGoal bold = steps_to_progress(curve, LearningRateRule::kLinear, kFourfold, 1e5);
  EXPECT_NEAR(bold.steps, safe.steps, 1e-9);
  EXPECT_NEAR(bold.deviation, std::hypot(safe.deviation, std::log(2.0) / 2), 1e-9);
}

// The first half has Φ = 100 (r = 1.6), the second 10⁶ (r = 4), with no growth in B left to chance:
// both batches are recorded alike, far apart, so that the power is nearly fitted to zero.
TEST(StepsToProgress, IntegratesOverTheRun) {
  const NoisePoint points[] = {{.batch = 100, .progress = 0, .scale = 100},
                               {.batch = 100, .progress = 499, .scale = 100},
                               {.batch = 100, .progress = 501, .scale = 1e6},
                               {.batch = 1600, .progress = 0, .scale = 100},
                               {.batch = 1600, .progress = 499, .scale = 100},
                               {.batch = 1600, .progress = 501, .scale = 1e6}};
  const StepsToGoal steps =
      steps_to_progress(NoiseCurve(points), LearningRateRule::kAdaScale, kFourfold, 1000);
  EXPECT_NEAR(steps.steps, 5 / 1.6 + 5 / 3.9988, 0.01);
}

}  // namespace
}  // namespace stint
