#include "calibrate/noise_growth.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

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
