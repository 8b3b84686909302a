#include "calibrate/batch_fit.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

StepRow row(const char* job, double batch, double time_ms, std::vector<int> workers = {1}) {
  return {.job = job,
          .series = "",
          .device = "T4",
          .workers_by_vm = std::move(workers),
          .batch_per_worker = batch,
          .time = time_ms * kMillisecond};
}

// 8 to 16 samples take 20 and 30 ms, 16 to 64 take 30 and 90 ms; two workers do not count.
TEST(BatchPairs, AreNeighbouringBatchesOfOneWorker) {
  const std::vector<StepRow> rows = {row("a", 16, 30), row("a", 8, 20), row("a", 64, 90),
                                     row("a", 32, 55, {1, 1})};
  const auto pairs = batch_pairs(rows);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_NEAR(pairs[0].batch_ratio, 0.5, 1e-12);
  EXPECT_NEAR(pairs[0].time_ratio, 2 / 3.0, 1e-12);
  EXPECT_NEAR(pairs[1].batch_ratio, 0.25, 1e-12);
  EXPECT_NEAR(pairs[1].time_ratio, 1 / 3.0, 1e-12);
}

// Job a: 0.75 of the time at half the batch, a share of 0.5, twice. Job b: 0.5, a share of 0. Each
// job counts the same: a mean of 0.25, and deviations of 0.25 from it. Job a from b's share of 0:
// 0.5/0.75 is a third too low; b from a's: 0.75/0.5 is a half too high.
TEST(FixedShareFit, CountsEachJobTheSame) {
  const std::vector<BatchPair> pairs = {{"a", 0.5, 0.75}, {"a", 0.5, 0.75}, {"b", 0.5, 0.5}};
  const auto fit = fit_fixed_share(pairs);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_NEAR(fit->share.mean, 0.25, 1e-12);
  EXPECT_NEAR(fit->share.deviation, 0.25, 1e-12);
  EXPECT_NEAR(fit->error_mean, (1 / 3.0 + 1 / 3.0 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(fit->error_median, 1 / 3.0, 1e-12);
}

// Times that fall with the batch are fixed altogether; times that more than double with it have no
// fixed part.
TEST(FixedShareFit, StaysBetweenNothingAndAll) {
  const std::vector<BatchPair> pairs = {{"a", 0.5, 1.2}, {"b", 0.5, 0.4}};
  EXPECT_NEAR(fit_fixed_share(pairs)->share.mean, 0.5, 1e-12);
}

TEST(FixedShareFit, NeedsTwoJobs) {
  EXPECT_FALSE(fit_fixed_share(std::vector<BatchPair>{{"a", 0.5, 0.75}}).ok());
}

TEST(FixedShareFit, IsAConstantOfTheCalibration) {
  Calibration calibration;
  add_to(calibration, {.share = {.mean = 0.3, .deviation = 0.2}, .pairs = 12});
  ASSERT_EQ(calibration.constants.size(), 1U);
  EXPECT_EQ(calibration.constants[0].name, "fixed_share");
  EXPECT_EQ(calibration.constants[0].value, 0.3);
  EXPECT_EQ(calibration.constants[0].deviation, 0.2);
  EXPECT_EQ(calibration.accuracy[0].n, 12);
}

}  // namespace
}  // namespace stint
