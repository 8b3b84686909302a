#include "calibrate/convergence_runs.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// An epoch of a run at batch 40 of a job whose initial batch is 10, with a noise ratio of 3: the
/// noise scale is 30 and a step is worth r = (3 + 1)/(3 · 10/40 + 1) = 16/7.
ConvergenceRow row(int epoch, double metric) {
  return {.job = "j",
          .batch = 40,
          .epoch = epoch,
          .progress = 16.0 * (epoch + 1),
          .iteration = 7.0 * (epoch + 1),
          .metric = metric,
          .noise_ratio = 3};
}

TEST(RunsOf, GroupsRowsByJobAndBatch) {
  const std::vector<ConvergenceRow> rows{{.job = "a", .batch = 1, .epoch = 0},
                                         {.job = "b", .batch = 1, .epoch = 0},
                                         {.job = "a", .batch = 1, .epoch = 1},
                                         {.job = "a", .batch = 2, .epoch = 0},
                                         {.job = "a", .batch = 1, .epoch = 0}};
  const auto runs = runs_of(rows);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0].rows, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(runs[1].job, "b");
  EXPECT_EQ(runs[2].batch, 2);
  // The epochs of a second run at the same batch begin again.
  EXPECT_EQ(runs[3].rows, (std::vector<std::size_t>{4}));
}

// The best metric is 1.0, so the level is 0.98: from 0.9 at step 7 to 1.0 at step 14 it is reached
// after 0.8 of the epoch, at step 12.6 and progress (16 + 12.8) · 10 samples.
TEST(TrainedJobs, FindsTheInitialBatchAndTheLevel) {
  const auto runs = runs_of(std::vector{row(0, 0.9), row(1, 1.0)});
  const auto jobs = trained_jobs(runs);
  ASSERT_EQ(jobs.size(), 1U);
  const TrainedJob& job = jobs.at("j");
  EXPECT_EQ(job.initial_batch, 10);
  EXPECT_FALSE(job.level.lower_is_better);
  EXPECT_NEAR(job.level.value, 0.98, 1e-12);
  ASSERT_EQ(job.runs.size(), 1U);
  EXPECT_NEAR(job.runs[0].steps, 12.6, 1e-9);
  EXPECT_NEAR(job.runs[0].progress, 288, 1e-9);
  EXPECT_EQ(job.runs[0].epochs, 1);
  ASSERT_EQ(job.runs[0].noise.size(), 2U);
  EXPECT_NEAR(job.runs[0].noise[1].progress, 320, 1e-9);
  EXPECT_NEAR(job.runs[0].noise[1].scale, 30, 1e-9);
}

// The runs fall to 49 and to 20, so the level is 49/0.98 = 50, and each run reaches it.
TEST(TrainedJobs, KnowsErrorRatesByTheirFall) {
  std::vector<ConvergenceRow> rows{row(0, 99), row(1, 49), row(0, 99), row(1, 20)};
  rows[2].batch = 80;
  rows[3].batch = 80;
  const TrainedJob job = trained_jobs(runs_of(rows)).at("j");
  EXPECT_TRUE(job.level.lower_is_better);
  EXPECT_NEAR(job.level.value, 50, 1e-9);
  EXPECT_EQ(job.runs.size(), 2U);
}

// Log-likelihoods are below zero: 0.98 of the best would be better than the best.
TEST(TrainedJobs, HasALevelBelowZeroThatItsRunsReach) {
  const TrainedJob job = trained_jobs(runs_of(std::vector{row(0, -9.8), row(1, -4.9)})).at("j");
  EXPECT_NEAR(job.level.value, -5, 1e-9);
}

TEST(TrainedJobs, CountsRowsWithoutNoise) {
  std::vector<ConvergenceRow> rows{row(0, 0.9), row(1, 1.0)};
  rows[0].noise_ratio.reset();
  EXPECT_EQ(trained_jobs(runs_of(rows)).at("j").rows_without_noise, 1);
  rows[1].noise_ratio.reset();
  EXPECT_TRUE(trained_jobs(runs_of(rows)).empty());
}

// Metrics 0, 10, 20, …, 90 and then alternately 99.9 and 100.1: the steep part says where the level
// of 98.1 is reached, so that jitter matters little; on a curve that creeps it matters more.
TEST(TrainedJobs, SeesHowFlatTheMetricIsAtTheLevel) {
  std::vector<ConvergenceRow> steep;
  std::vector<ConvergenceRow> flat;
  for (int i = 0; i < 40; ++i) {
    const double jitter = i % 2 == 0 ? 0.1 : -0.1;
    steep.push_back(row(i, i < 10 ? 10.0 * i : 100 + jitter));
    flat.push_back(row(i, 90 + 0.25 * i + jitter));
  }
  const double steep_flatness = trained_jobs(runs_of(steep)).at("j").runs[0].flatness;
  const double flat_flatness = trained_jobs(runs_of(flat)).at("j").runs[0].flatness;
  EXPECT_GT(steep_flatness, 0);
  EXPECT_GT(flat_flatness, 2 * steep_flatness);
}

/// Φ is `first` times the initial batch of 10 at the beginning, and grows by e each tenth.
TrainedJob job_of(double first) {
  TrainedJob job{.initial_batch = 10};
  for (const double batch : {10.0, 40.0}) {
    ReachedRun run{.batch = batch, .steps = 100, .progress = 1000};
    for (int i = 0; i <= 10; ++i) {
      run.noise.push_back({.batch = batch,
                           .progress = 100.0 * i,
                           .scale = 10 * first * std::exp(i) * std::sqrt(batch / 10)});
    }
    job.runs.push_back(run);
  }
  return job;
}

TEST(NoiseGrowth, IsUniversalWithoutJobs) {
  const NoisePrior prior = noise_growth({});
  const NoisePrior universal = universal_noise_prior();
  EXPECT_EQ(prior.mean, universal.mean);
  EXPECT_NEAR(prior.level_deviation, universal.level_deviation / std::sqrt(2), 1e-9);
}

TEST(NoiseGrowth, IsTheMeanOfJobsAndOfWhatIsUniversal) {
  const NoisePrior universal = universal_noise_prior();
  const NoisePrior prior = noise_growth({{"a", job_of(1)}, {"b", job_of(std::exp(2.0))}});
  for (std::size_t k = 0; k < kWayParts; ++k) {
    const double own = 10 * way_middle(k);
    EXPECT_NEAR(prior.mean[k], (own + own + 2 + universal.mean[k]) / 3, 1e-9) << k;
  }
}

TEST(NoiseGrowth, JobsThatAreAlikeLeaveLessOpen) {
  const NoisePrior alike = noise_growth({{"a", job_of(3)}, {"b", job_of(3)}, {"c", job_of(3)}});
  const NoisePrior apart = noise_growth({{"a", job_of(3)}, {"b", job_of(300)}, {"c", job_of(1)}});
  EXPECT_LT(alike.level_deviation, apart.level_deviation);
  EXPECT_NEAR(alike.shape_deviation, apart.shape_deviation, 1e-9);
}

TEST(NoiseGrowth, RunsWithoutNoiseDoNotCount) {
  TrainedJob silent{.initial_batch = 10};
  silent.runs.push_back({.batch = 10, .steps = 100, .progress = 1000});
  EXPECT_EQ(noise_growth({{"a", silent}}).mean, universal_noise_prior().mean);
}

}  // namespace

}  // namespace stint
