#include "calibrate/one_worker.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

StepRow row_of(double batch, Seconds time) {
  return {.job = "net", .workers_by_vm = {1}, .batch_per_worker = batch, .time = time};
}

/// The seconds of one worker at `batch` by the times in seconds of other batches.
double seconds_at(double batch, const std::vector<std::pair<double, double>>& measured) {
  std::vector<StepRow> rows;
  for (const auto& [size, seconds] : measured) rows.push_back(row_of(size, seconds * kSecond));
  const auto estimate = OneWorkerTimes(rows).at(row_of(batch, {}));
  return estimate ? estimate->time.in(kSecond) : -1;
}

// The inner points lie 1 above and 1 below the line of their neighbours: s² = 2/3 · 1.
TEST(Scatter, MatchesHandComputedCase) {
  const std::vector<double> x = {0, 1, 2, 3};
  const std::vector<double> y = {0, 1, 0, 1};
  EXPECT_NEAR(scatter(x, y), std::sqrt(2.0 / 3), 1e-12);
}

TEST(Scatter, SeesNoneInALineOrABend) {
  const std::vector<double> x = {0, 1, 2, 3, 4};
  EXPECT_NEAR(scatter(x, std::vector<double>{1, 3, 5, 7, 9}), 0, 1e-12);
  EXPECT_NEAR(scatter(x, std::vector<double>{0, 1, 4, 9, 16}), 0, 1e-12);
  // Uneven spacing: the line from (0, 1) to (5, 11) is at 3 where x is 1, and so on.
  EXPECT_NEAR(scatter(std::vector<double>{0, 1, 5, 6}, std::vector<double>{1, 3, 11, 13}), 0,
              1e-12);
}

TEST(Scatter, CannotBeToldFromThreePoints) {
  EXPECT_EQ(scatter(std::vector<double>{0, 1, 2}, std::vector<double>{0, 9, 0}), 0);
  EXPECT_EQ(scatter({}, {}), 0);
}

TEST(Scatter, RecoversTheDeviationOfNoiseOnABend) {
  constexpr int kSeed = 21;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 2000; ++i) {
    x.push_back(i);
    y.push_back(1e-3 * i * i + 0.2 * random.normal());
  }
  // The estimate from 2,000 points is good to about 3 %.
  EXPECT_NEAR(scatter(x, y), 0.2, 0.02);
}

// 1 s at 1 and 2 s at 4: straight in logarithms, so √2 s at 2.
TEST(OneWorkerTimes, IsStraightBetweenBatchesInLogarithms) {
  EXPECT_NEAR(seconds_at(2, {{1, 1}, {4, 2}}), std::sqrt(2), 1e-12);
  EXPECT_NEAR(seconds_at(1, {{1, 1}, {4, 2}}), 1, 1e-12);
  EXPECT_NEAR(seconds_at(4, {{4, 2}, {1, 1}}), 2, 1e-12);
}

TEST(OneWorkerTimes, GrowsInProportionAboveTheLargestBatch) {
  EXPECT_NEAR(seconds_at(8, {{1, 1}, {4, 2}}), 4, 1e-12);
}

// Doubling the batch takes √2 as long, so half of 1 takes 1/√2. Where it takes four times as long,
// half the batch still takes no less than half. Where times fall, it takes no longer than the
// first.
TEST(OneWorkerTimes, FollowsTheSlopeBelowTheSmallestBatchWithinReason) {
  EXPECT_NEAR(seconds_at(0.5, {{1, 1}, {4, 2}}), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(seconds_at(1, {{2, 1}, {4, 4}}), 0.5, 1e-12);
  EXPECT_NEAR(seconds_at(1, {{2, 2}, {4, 1}}), 2, 1e-12);
}

TEST(OneWorkerTimes, IsInProportionToASingleBatch) {
  EXPECT_NEAR(seconds_at(4, {{4, 2}}), 2, 1e-12);
  EXPECT_NEAR(seconds_at(1, {{4, 2}}), 0.5, 1e-12);
  EXPECT_NEAR(seconds_at(8, {{4, 2}}), 4, 1e-12);
}

// The middle of 1 s and 4 s in logarithms is 2 s.
TEST(OneWorkerTimes, AveragesRepeatsOfABatch) {
  EXPECT_NEAR(seconds_at(4, {{4, 1}, {4, 4}}), 2, 1e-12);
}

TEST(OneWorkerTimes, CountsTheTimesOfAStep) {
  StepRow row = row_of(4, 1 * kSecond);
  row.times_per_step = 4;
  const OneWorkerTimes alone(std::vector<StepRow>{row});
  EXPECT_NEAR(alone.at(row)->time.in(kSecond), 4, 1e-12);
}

// ln t at batches 1, 2, 4, 8 is 0, 0.3, 0, 0.3: scatter² = 2/3 · 0.3² = 0.06, of which 0.05² is
// usual: √0.0575 = 0.23979. The figure at 2 is drawn by 0.06/(0.06 + 0.0225) of half the way to its
// neighbours' line, which is 0: 0.3 − 0.72727 · 0.15 = 0.190909. The ends have no such line.
TEST(OneWorkerTimes, DrawsScatteredFiguresToTheirNeighboursAndSaysHowUneven) {
  const double high = std::exp(0.3);
  const std::vector<std::pair<double, double>> uneven = {{1, 1}, {2, high}, {4, 1}, {8, high}};
  EXPECT_NEAR(std::log(seconds_at(2, uneven)), 0.1909091, 1e-7);
  EXPECT_NEAR(std::log(seconds_at(4, uneven)), 0.3 - 0.1909091, 1e-7);
  EXPECT_NEAR(seconds_at(1, uneven), 1, 1e-12);
  EXPECT_NEAR(seconds_at(8, uneven), high, 1e-12);

  std::vector<StepRow> rows;
  for (const auto& [batch, seconds] : uneven) rows.push_back(row_of(batch, seconds * kSecond));
  EXPECT_NEAR(OneWorkerTimes(rows).at(rows.front())->jitter, 0.2397916, 1e-7);
}

TEST(OneWorkerTimes, HasNoJitterWhereFiguresScatterAsUsual) {
  std::vector<StepRow> rows;
  for (const double batch : {1.0, 2.0, 4.0, 8.0}) rows.push_back(row_of(batch, batch * kSecond));
  EXPECT_EQ(OneWorkerTimes(rows).at(rows.front())->jitter, 0);
}

TEST(OneWorkerTimes, SaysWhenItExtrapolates) {
  const OneWorkerTimes alone(std::vector<StepRow>{row_of(4, 1 * kSecond), row_of(16, 2 * kSecond)});
  const auto extrapolated = [&](double batch) {
    return alone.at(row_of(batch, {}))->extrapolated();
  };
  EXPECT_FALSE(extrapolated(2));
  EXPECT_FALSE(extrapolated(32));
  EXPECT_TRUE(extrapolated(1.9));
  EXPECT_TRUE(extrapolated(33));
}

TEST(OneWorkerTimes, KeepsJobsSeriesAndDevicesApart) {
  const StepRow row = row_of(4, 1 * kSecond);
  const OneWorkerTimes alone(std::vector<StepRow>{row});
  ASSERT_TRUE(alone.at(row).has_value());
  StepRow other = row;
  other.job = "other";
  EXPECT_FALSE(alone.at(other).has_value());
  other = row;
  other.series = "mixed precision";
  EXPECT_FALSE(alone.at(other).has_value());
  other = row;
  other.device = "T4";
  EXPECT_FALSE(alone.at(other).has_value());
}

TEST(OneWorkerTimes, PassesOverRowsOfSeveralWorkersWithoutTimeOrUnusable) {
  StepRow several = row_of(4, 1 * kSecond);
  several.workers_by_vm = {2};
  StepRow untimed = row_of(4, 1 * kSecond);
  untimed.time.reset();
  StepRow unusable = row_of(4, 1 * kSecond);
  unusable.unusable = "out of memory";
  const OneWorkerTimes alone(std::vector<StepRow>{several, untimed, unusable});
  EXPECT_FALSE(alone.at(row_of(4, {})).has_value());
}

TEST(OneWorkerTimes, KnowsTheGradientsThatAnyRowOfAJobSays) {
  StepRow small = row_of(8, 1 * kSecond);
  StepRow cluster = row_of(8, 1 * kSecond);
  cluster.workers_by_vm = {4, 4};
  cluster.gradient_bytes = 40 * kMB;
  StepRow other = cluster;
  other.job = "other";
  other.gradient_bytes.reset();
  const OneWorkerTimes times(std::vector<StepRow>{small, cluster, other});
  EXPECT_EQ(times.gradient_bytes("net"), 40 * kMB);
  EXPECT_FALSE(times.gradient_bytes("other").has_value());
  EXPECT_FALSE(times.gradient_bytes("never seen").has_value());
}

}  // namespace
}  // namespace stint
