#include "predict/compute_curve.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

BatchCurve::Point point(double batch, double time_ms) {
  return {.batch = batch, .time = time_ms * kMillisecond};
}

// On the line 10 + 2 b: measured at 10 and 30, so 20 lies between, 60 and 1 outside.
TEST(BatchCurve, FollowsTheLineInsideAndOutside) {
  const BatchCurve curve({point(10, 30), point(30, 70)});
  EXPECT_NEAR(curve.floor().in(kMillisecond), 10, 1e-9);
  EXPECT_NEAR(curve.per_sample().in(kMillisecond), 2, 1e-9);
  EXPECT_NEAR(curve.at(20).in(kMillisecond), 50, 1e-9);
  EXPECT_NEAR(curve.at(60).in(kMillisecond), 130, 1e-9);
  EXPECT_NEAR(curve.at(1).in(kMillisecond), 12, 1e-9);
}

TEST(BatchCurve, PassesThroughWhatWasMeasured) {
  const BatchCurve curve({point(4, 50), point(8, 52), point(16, 90)});
  EXPECT_NEAR(curve.at(4).in(kMillisecond), 50, 1e-9);
  EXPECT_NEAR(curve.at(8).in(kMillisecond), 52, 1e-9);
  EXPECT_NEAR(curve.at(12).in(kMillisecond), 71, 1e-9);
}

// 20 then 10 pool to 15 each; the same batch twice is averaged first.
// The line through 100 and 300 ms falls to zero at a batch of 12; a sample of a batch of 6 still
// costs the 100/24 ms that it does in the smallest batch: 25 ms.
TEST(BatchCurve, SmallerBatchesAreNotCheaperBySample) {
  const BatchCurve curve({{24, 100 * kMillisecond}, {48, 300 * kMillisecond}});
  EXPECT_NEAR(curve.at(6).in(kMillisecond), 25, 1e-9);
}

TEST(BatchCurve, PoolsMeasurementsThatFall) {
  const BatchCurve curve({point(1, 20), point(2, 8), point(2, 12), point(4, 40)});
  EXPECT_NEAR(curve.at(1).in(kMillisecond), (20 + 2 * 10) / 3.0, 1e-9);
  EXPECT_NEAR(curve.at(2).in(kMillisecond), (20 + 2 * 10) / 3.0, 1e-9);
}

// Of 64 ms at 32 samples a quarter is fixed: 16 ms, and 48/32 = 1.5 ms a sample.
TEST(BatchCurve, SplitsASingleMeasurementByTheShare) {
  const BatchCurve curve({point(32, 60), point(32, 68)}, 0.25);
  EXPECT_NEAR(curve.floor().in(kMillisecond), 16, 1e-9);
  EXPECT_NEAR(curve.per_sample().in(kMillisecond), 1.5, 1e-9);
  EXPECT_NEAR(curve.at(32).in(kMillisecond), 64, 1e-9);
  EXPECT_NEAR(curve.at(16).in(kMillisecond), 40, 1e-9);
  EXPECT_NEAR(curve.at(1).in(kMillisecond), 17.5, 1e-9);
  EXPECT_NEAR(curve.at(64).in(kMillisecond), 112, 1e-9);
}

TEST(BatchCurve, ASingleMeasurementWithoutAShareIsProportional) {
  const BatchCurve curve({point(32, 64)});
  EXPECT_NEAR(curve.at(16).in(kMillisecond), 32, 1e-9);
  EXPECT_NEAR(curve.at(64).in(kMillisecond), 128, 1e-9);
}

TEST(BatchCurve, TheShareIsOfNoUseToSeveralBatches) {
  const BatchCurve curve({point(10, 30), point(30, 70)}, 0.9);
  EXPECT_NEAR(curve.at(1).in(kMillisecond), 12, 1e-9);
}

TEST(BatchCurve, TimesOfZeroStayZero) {
  const BatchCurve curve({point(8, 0), point(16, 0)});
  EXPECT_EQ(curve.at(100), Seconds{});
}

TEST(BatchCurve, NeverFalls) {
  constexpr int kSeed = 8;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<BatchCurve::Point> points;
    for (int i = 0; i < 1 + random.below(6); ++i) {
      points.push_back(point(1 + random.below(64), random.uniform(1, 100)));
    }
    const BatchCurve curve(points);
    Seconds before;
    for (double batch = 0.5; batch < 200; batch *= 1.07) {
      ASSERT_GE(curve.at(batch), before) << batch;
      before = curve.at(batch);
    }
  }
}

ComputeSample sample(const char* device, int batch, double forward_ms) {
  return {.device = device,
          .batch_per_worker = batch,
          .forward = {.median = forward_ms * kMillisecond},
          .backward = {.median = 2 * forward_ms * kMillisecond},
          .update = {.median = 1 * kMillisecond}};
}

TEST(ComputeCurve, TakesTheSamplesOfTheDevice) {
  const JobProfile job{
      .name = "a",
      .gradient_bytes = kMB,
      .compute = {sample("T4", 8, 20), sample("V100", 8, 5), sample("T4", 16, 36)}};
  const auto curve = compute_curve(job, "T4");
  ASSERT_TRUE(curve.ok());
  EXPECT_NEAR(curve->forward.at(16).in(kMillisecond), 36, 1e-9);
  EXPECT_NEAR(curve->backward.at(16).in(kMillisecond), 72, 1e-9);
  EXPECT_FALSE(curve->extrapolates(32));
  EXPECT_TRUE(curve->extrapolates(33));
}

// One batch of 32: with a share of 0.25, 20 and 40 ms at 32 are (0.25 + 0.75/32) of that at one
// sample; an update takes its 1 ms at any batch.
TEST(ComputeCurve, OneBatchIsNotTakenAsProportional) {
  const JobProfile job{.name = "a", .gradient_bytes = kMB, .compute = {sample("T4", 32, 20)}};
  const auto curve = compute_curve(job, "T4", {.mean = 0.25, .deviation = 0.2});
  ASSERT_TRUE(curve.ok());
  EXPECT_TRUE(curve->one_batch());
  EXPECT_TRUE(curve->below_measured(31));
  EXPECT_FALSE(curve->below_measured(32));
  EXPECT_NEAR(curve->passes(1).in(kMillisecond), 60 * (0.25 + 0.75 / 32), 1e-9);
  EXPECT_NEAR(curve->update.at(1).in(kMillisecond), 1, 1e-9);
  EXPECT_NEAR(curve->update.at(64).in(kMillisecond), 1, 1e-9);
}

// At half the batch 0.25 + 0.75/2 = 0.625 of the time: 0.2 · 0.5/0.625 = 0.16. At twice the batch
// 1.75: 0.2/1.75. At 16 times, three doublings beyond twice: √((0.2 · 15/12.25)² + 0.3²).
TEST(ComputeCurve, IsUnsureOfBatchesThatWereNotMeasured) {
  const JobProfile one{.name = "a", .gradient_bytes = kMB, .compute = {sample("T4", 32, 20)}};
  const auto curve = compute_curve(one, "T4", {.mean = 0.25, .deviation = 0.2});
  EXPECT_NEAR(curve->deviation(32), 0, 1e-12);
  EXPECT_NEAR(curve->deviation(16), 0.16, 1e-12);
  EXPECT_NEAR(curve->deviation(64), 0.2 / 1.75, 1e-12);
  EXPECT_NEAR(curve->deviation(512), std::hypot(0.2 * 15 / 12.25, 0.3), 1e-12);
}

// Measured at 8 and 16: a tenth for each doubling beyond 32 and below 4.
TEST(ComputeCurve, IsUnsureOutsideOfSeveralBatches) {
  const JobProfile two{
      .name = "a", .gradient_bytes = kMB, .compute = {sample("T4", 8, 20), sample("T4", 16, 36)}};
  const auto curve = compute_curve(two, "T4", {.mean = 0.25, .deviation = 0.2});
  EXPECT_FALSE(curve->one_batch());
  EXPECT_EQ(curve->deviation(12), 0);
  EXPECT_EQ(curve->deviation(4), 0);
  EXPECT_NEAR(curve->deviation(2), 0.1, 1e-12);
  EXPECT_NEAR(curve->deviation(64), 0.1, 1e-12);
}

TEST(ComputeCurve, SaysWhatIsMissing) {
  JobProfile job{.name = "a", .gradient_bytes = kMB};
  EXPECT_EQ(compute_curve(job, "T4").error().message,
            "the job a has no compute samples; profile it on one machine first");
  job.compute = {sample("V100", 8, 5)};
  EXPECT_EQ(compute_curve(job, "T4").error().message,
            "the job a was not measured on T4, only on V100");
}

}  // namespace
}  // namespace stint
