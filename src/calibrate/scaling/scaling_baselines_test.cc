#include "calibrate/scaling/scaling_baselines.h"

#include <gtest/gtest.h>

#include "calibrate/scaling/scaling_fixture.h"

namespace stint {
namespace {

ScalingRow measured(ScalingRow row, Seconds time) {
  row.time = time;
  return row;
}

/// 64 samples per worker take 0.8 s on 8 workers, 32 take 0.5 s on 16; another owner is slower.
std::vector<ScalingRow> known() {
  return {measured(scaling_row("bert", 8, 512), 0.8 * kSecond),
          measured(scaling_row("bert", 16, 512), 0.5 * kSecond),
          measured(scaling_row("bert", 8, 512, "b"), 2 * kSecond)};
}

double seconds(ScalingBaseline baseline, const ScalingRow& row) {
  const Forecast forecast = scaling_baseline(baseline, known(), row);
  EXPECT_TRUE(forecast.time);
  return forecast.time ? forecast.time->in(kSecond) : 0;
}

// 16 samples per worker at the rate of 16 workers: 0.5 s * 16/32.
TEST(ScalingBaseline, PerfectKeepsTheRateOfTheNearestSmallerCluster) {
  EXPECT_NEAR(seconds(ScalingBaseline::kPerfect, scaling_row("bert", 32, 512)), 0.25, 1e-9);
  EXPECT_NEAR(seconds(ScalingBaseline::kPerfect, scaling_row("bert", 4, 512)), 1.6, 1e-9);
}

TEST(ScalingBaseline, ConstantStepKeepsTheTime) {
  EXPECT_NEAR(seconds(ScalingBaseline::kConstantStep, scaling_row("bert", 32, 512)), 0.5, 1e-9);
}

// The line through (64, 0.8) and (32, 0.5) is 0.2 + 0.3 b/32: 0.35 s at 16.
TEST(ScalingBaseline, AmdahlIsALineInSamplesPerWorker) {
  EXPECT_NEAR(seconds(ScalingBaseline::kAmdahl, scaling_row("bert", 32, 512)), 0.35, 1e-9);
}

TEST(ScalingBaseline, OtherEditionsAndOwnersStandIn) {
  ScalingRow later = scaling_row("bert", 8, 512);
  later.edition = "v2";
  EXPECT_NEAR(seconds(ScalingBaseline::kPerfect, later), 0.8, 1e-9);
  EXPECT_NEAR(seconds(ScalingBaseline::kPerfect, scaling_row("bert", 16, 512, "z")), 0.7, 1e-9);
}

TEST(ScalingBaseline, WithoutRowsThereIsANote) {
  const Forecast forecast =
      scaling_baseline(ScalingBaseline::kPerfect, known(), scaling_row("ssd", 8, 8));
  EXPECT_FALSE(forecast.time);
  EXPECT_EQ(forecast.note, "there is no training data for ssd on that device");
  ScalingRow odd = scaling_row("bert", 8, 8);
  odd.unusable = "nodes is blank";
  EXPECT_EQ(scaling_baseline(ScalingBaseline::kPerfect, known(), odd).note, "nodes is blank");
}

}  // namespace
}  // namespace stint
