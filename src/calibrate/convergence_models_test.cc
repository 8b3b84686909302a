#include "calibrate/convergence_models.h"

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

/// A run of a job with initial batch 100 whose noise is so large that scaling is perfect.
ReachedRun perfect_run(double batch, double factor) {
  return {.batch = batch,
          .steps = 1e6 / batch * factor,
          .progress = 1e6 * factor,
          .epochs = 50,
          .noise = {{.batch = batch, .progress = 0, .scale = 1e15}}};
}

TrainedJob job_of(std::vector<ReachedRun> runs) {
  return {.initial_batch = 100, .runs = std::move(runs)};
}

// With one run: 1e6 samples are 2500 steps of 400. s² = (3 · 0.05² + 0)/3 = 0.05², at the run's own
// batch the variance is twice that, and t of 3 degrees is 1.6270 in two terms.
TEST(ConvergenceModel, CarriesOneRunOverByTheLaw) {
  const ConvergenceModel model({{"j", job_of({perfect_run(100, 1)})}});
  const auto own = model.estimate("j", 100);
  ASSERT_TRUE(own.has_value());
  EXPECT_NEAR(own->steps, 10'000, 1e-3);
  const double width = student_quantile(1.2815515655446004, 3) * 0.05 * std::sqrt(2.0);
  EXPECT_NEAR(own->p90 / own->steps, std::exp(width), 1e-4);
  const auto other = model.estimate("j", 400);
  ASSERT_TRUE(other.has_value());
  EXPECT_NEAR(other->steps, 2500, 1e-3);
  EXPECT_GT(other->p90 / other->steps, own->p90 / own->steps);
  EXPECT_NEAR(other->p10 * other->p90, other->steps * other->steps, 1e-3);
  EXPECT_FALSE(model.estimate("k", 100).has_value());
}

// Runs at 100 and 400 that need e^−0.1 and e^0.1 of the law, which is constant samples here: x =
// ± ln 2, Σx² = 0.9609, Σxy = 0.1386, Σy² = 0.02. With s² = 0.0025 that is κ = 0.0707 and RSS =
// 0.02 − 2 · 0.0707 · 0.1386 + 0.0707² · 0.9609 = 0.0052.
TEST(ConvergenceModel, ShrinksAPowerThatTheLawLacks) {
  const ConvergenceModel model(
      {{"j", job_of({perfect_run(100, std::exp(-0.1)), perfect_run(400, std::exp(0.1))})}});
  const double away = std::log(2.0);
  const double xx = 2 * away * away;
  const double xy = 2 * 0.1 * away;
  const double first = xy / 0.0025 / (xx / 0.0025 + 400);
  const double residual = 0.02 - 2 * first * xy + first * first * xx;
  const double s2 = (3 * 0.0025 + residual) / 4;
  const double power = xy / s2 / (xx / s2 + 400);
  EXPECT_NEAR(model.estimate("j", 200)->steps, 5000, 1e-3);
  EXPECT_NEAR(model.estimate("j", 800)->steps, 1250 * std::exp(2 * away * power), 1e-3);
}

// A job with one run at 100 and Φ = 100, at 6400: with constant samples it needs 1000 · 100/6400 =
// 15.6 steps, by the law more. It believes in the law as far as the runs of another job follow it.
TEST(ConvergenceModel, LearnsFromOtherJobsHowFarTheLawHolds) {
  const auto steps_beside = [](double steps_of_other) {
    const TrainedJob one = {.initial_batch = 100, .runs = {run_of(100, 1000)}};
    const TrainedJob other = {.initial_batch = 100,
                              .runs = {run_of(100, 1000), run_of(6400, steps_of_other)}};
    return ConvergenceModel({{"j", one}, {"k", other}}).estimate("j", 6400)->steps;
  };
  const double constant = 1000.0 * 100 / 6400;
  EXPECT_GT(steps_beside(constant), constant);
  EXPECT_GT(steps_beside(20 * constant), 1.2 * steps_beside(constant));
  EXPECT_LT(steps_beside(20 * constant), 20 * constant);
}

// What other jobs are off widens the interval of a job with one run: of two runs that are e^±0.2
// off, (4 · 0.0025 + 0.08)/(4 + 1) = 0.018 instead of 0.0025.
TEST(ConvergenceModel, LearnsTheSpreadFromOtherJobs) {
  const TrainedJob one = job_of({perfect_run(100, 1)});
  const TrainedJob wide =
      job_of({perfect_run(100, std::exp(-0.2)), perfect_run(100, std::exp(0.2))});
  const auto alone = ConvergenceModel({{"j", one}}).estimate("j", 100);
  const auto among = ConvergenceModel({{"j", one}, {"k", wide}}).estimate("j", 100);
  EXPECT_NEAR(std::log(among->p90 / among->steps) / std::log(alone->p90 / alone->steps),
              std::sqrt(0.018 / 0.0025), 1e-3);
}

TEST(ConvergenceModel, IsAsUnsureAsTheMetricIsFlat) {
  TrainedJob job = job_of({perfect_run(100, 1)});
  job.runs[0].flatness = 0.1;
  const auto sure = ConvergenceModel({{"j", job_of({perfect_run(100, 1)})}}).estimate("j", 100);
  const auto flat = ConvergenceModel({{"j", job}}).estimate("j", 100);
  EXPECT_NEAR(std::log(flat->p90 / flat->steps) / std::log(sure->p90 / sure->steps), 2, 1e-3);
}

// Tables give 1.638, 1.476 and 1.372 for 3, 5 and 10 degrees of freedom.
TEST(StudentQuantile, IsNearTheTables) {
  constexpr double kNormal = 1.2815515655446004;
  EXPECT_NEAR(student_quantile(kNormal, 3), 1.638, 0.016);
  EXPECT_NEAR(student_quantile(kNormal, 5), 1.476, 0.005);
  EXPECT_NEAR(student_quantile(kNormal, 10), 1.372, 0.002);
}

}  // namespace

}  // namespace stint
