#include "calibrate/convergence_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

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

// Runs at 100 and 400 that need e^−0.1 and e^0.1 of the law: x = ± ln 2, Σx² = 0.9609, Σxe =
// 0.1386, RSS = 0.02, s² = (3 · 0.0025 + 0.02)/4 = 0.006875, κ = (0.1386/s²)/(0.9609/s² + 400) =
// 0.0374.
TEST(ConvergenceModel, ShrinksAPowerThatTheLawLacks) {
  const ConvergenceModel model(
      {{"j", job_of({perfect_run(100, std::exp(-0.1)), perfect_run(400, std::exp(0.1))})}});
  const double s2 = (3 * 0.0025 + 0.02) / 4;
  const double away = std::log(2.0);
  const double power = 2 * 0.1 * away / s2 / (2 * away * away / s2 + 400);
  EXPECT_NEAR(model.estimate("j", 200)->steps, 5000, 1e-3);
  EXPECT_NEAR(model.estimate("j", 800)->steps, 1250 * std::exp(2 * away * power), 1e-3);
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
