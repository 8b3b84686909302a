#include "calibrate/convergence_baselines.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

ReachedRun run_of(double batch, double steps) {
  return {.batch = batch,
          .steps = steps,
          .progress = 1e5,
          .noise = {{.batch = batch, .progress = 0, .scale = 100}}};
}

const TrainedJob kJob{.initial_batch = 100, .runs = {run_of(100, 1000), run_of(400, 625)}};

TEST(BaselineSteps, KeepStepsOrSamplesOfTheNearestBatch) {
  EXPECT_EQ(baseline_steps(StepsBaseline::kConstantSteps, kJob, 800), 625);
  EXPECT_EQ(baseline_steps(StepsBaseline::kConstantSamples, kJob, 800), 312.5);
  EXPECT_EQ(baseline_steps(StepsBaseline::kConstantSteps, kJob, 150), 1000);
}

// Φ = 100: r at 800 is 2/1.125, so that 1e5 samples at 100 are 1000/r = 562.5 steps.
TEST(BaselineSteps, SumAdaScalesGain) {
  EXPECT_NEAR(baseline_steps(StepsBaseline::kAdaScale, kJob, 800).value(), 562.5, 1e-6);
}

// γ = (B + 8 · 100)/(B + 100): 4.5 at 100, 2.4 at 400. Samples are 1e5 and 2.5e5, so θ =
// −1.5e5/2.1. At 300, with γ = 1100/400 = 2.75, samples are 1e5 + 1.75 · 1.5e5/2.1 = 2.25e5 and
// steps 750.
TEST(BaselineSteps, DrawScavengersLine) {
  EXPECT_NEAR(baseline_steps(StepsBaseline::kScavenger, kJob, 300).value(), 750, 1e-6);
}

TEST(BaselineSteps, TakeOneRunForConstantSamplesInScavengersPlace) {
  const TrainedJob job{.initial_batch = 100, .runs = {run_of(100, 1000)}};
  EXPECT_NEAR(baseline_steps(StepsBaseline::kScavenger, job, 200).value(), 500, 1e-9);
}

// At 1 sample γ is 801/101 = 7.93: 1e5 − 3.43 · 71429 samples are fewer than none.
TEST(BaselineSteps, SayNothingWhereTheyCannot) {
  EXPECT_FALSE(baseline_steps(StepsBaseline::kScavenger, kJob, 1).has_value());
  TrainedJob job = kJob;
  job.runs[0].noise.clear();
  EXPECT_FALSE(baseline_steps(StepsBaseline::kScavenger, job, 300).has_value());
  EXPECT_FALSE(baseline_steps(StepsBaseline::kAdaScale, job, 300).has_value());
  EXPECT_TRUE(baseline_steps(StepsBaseline::kConstantSteps, job, 300).has_value());
}

TEST(BaselineSteps, HaveTheirNames) {
  EXPECT_STREQ(name_of(StepsBaseline::kConstantSamples), "constant-samples");
  EXPECT_STREQ(name_of(StepsBaseline::kAdaScale), "adascale");
}

}  // namespace
}  // namespace stint
