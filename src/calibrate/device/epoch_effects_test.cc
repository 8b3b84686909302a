#include "calibrate/device/epoch_effects.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

Gpu gpu(const char* name, double teraflops, double gigabytes) {
  return {.name = name,
          .memory_bandwidth = gigabytes * kGB / kSecond,
          .fp32 = teraflops * kTeraflop / kSecond,
          .fp16 = 8 * teraflops * kTeraflop / kSecond};
}

const Gpu kSlow = gpu("slow", 8, 500);
const Gpu kFast = gpu("fast", 16, 1000);
const Gpu kNew = gpu("new", 32, 2000);

/// A workload that follows the data sheets: 1000 s an epoch on the slow GPU, half on one that has
/// twice of everything.
EpochPoint bound(const Gpu& on, double batch, double limit) {
  const double missing = 1 / limit - 1;
  return {.workload = "bound",
          .gpu = &on,
          .batch = batch,
          .limit = limit,
          .power_share = 0.9,
          .log_time = std::log(1000) - std::log(*on.fp32 / *kSlow.fp32) + 0.33 * missing * missing};
}

/// A workload that waits for the host: epochs shorten with the batch, on every GPU alike.
EpochPoint waiting(const Gpu& on, double batch) {
  return {.workload = "waiting",
          .gpu = &on,
          .batch = batch,
          .power_share = 0.15,
          .log_time = std::log(1000 / batch)};
}

std::vector<EpochPoint> known() {
  std::vector<EpochPoint> points;
  for (const Gpu* on : {&kSlow, &kFast}) {
    for (const double batch : {8.0, 16.0, 32.0, 64.0}) {
      for (const double limit : {0.5, 0.75, 1.0}) points.push_back(bound(*on, batch, limit));
      points.push_back(waiting(*on, batch));
    }
  }
  return points;
}

double seconds(const EpochTimes& times, const EpochPoint& point) {
  return std::exp(times.estimate(point)->mean);
}

TEST(EpochEffects, CarriesABusyWorkloadByDataSheets) {
  const EpochTimes times = EpochTimes::fit(known());
  EXPECT_NEAR(seconds(times, bound(kNew, 16, 1)), 250, 10);
  EXPECT_NEAR(seconds(times, bound(kNew, 16, 0.5)), 250 * std::exp(0.33), 20);
}

TEST(EpochEffects, KeepsTheTimeOfAWorkloadThatWaitsForTheHost) {
  const EpochTimes times = EpochTimes::fit(known());
  EXPECT_NEAR(seconds(times, waiting(kNew, 16)), 1000 / 16.0, 5);
  // Between batches that were measured, and beyond them.
  EXPECT_NEAR(seconds(times, waiting(kNew, 24)), 1000 / 24.0, 5);
  EXPECT_NEAR(seconds(times, waiting(kNew, 128)), 1000 / 128.0, 2);
}

TEST(EpochEffects, ANewerProcessorShortensWhatWaitsForIt) {
  std::vector<EpochPoint> points = known();
  for (EpochPoint& point : points) point.processor_year = 2018;
  const EpochTimes times = EpochTimes::fit(points);
  EpochPoint later = waiting(kNew, 16);
  later.processor_year = 2020;
  EXPECT_NEAR(seconds(times, later), 1000 / 16.0 * std::exp(-0.2), 5);
}

// Both known GPUs have eight times their FP32 peak at 16 bits, the old one twice: it has an eighth
// of the 16-bit peak of the fast one and half of its bandwidth, so 500 s · 8^0.6 · 2^0.4 = 2297 s.
TEST(EpochEffects, CarriesAWorkloadAt16BitsByThatPeak) {
  Gpu old = gpu("old", 8, 500);
  old.fp16 = 16 * kTeraflop / kSecond;
  std::vector<EpochPoint> points = known();
  for (EpochPoint& point : points) point.half = true;
  EpochPoint point = bound(old, 16, 1);
  const double at_32_bits = seconds(EpochTimes::fit(points), point);
  point.half = true;
  EXPECT_NEAR(at_32_bits, 1000, 60);
  EXPECT_NEAR(seconds(EpochTimes::fit(points), point), 2297, 250);
}

// Hosts of the maker "A" are twice as fast as those of "B": another one of "A" is expected nearer
// to the first.
TEST(EpochEffects, TakesAHostForLikeOthersOfItsMaker) {
  std::vector<EpochPoint> points = known();
  for (EpochPoint& point : points) {
    const bool fast = point.gpu == &kFast;
    point.processor_maker = fast ? "A" : "B";
    if (fast && point.workload == "waiting") point.log_time -= std::log(2);
  }
  const EpochTimes times = EpochTimes::fit(points);
  EpochPoint like_fast = waiting(kNew, 16);
  like_fast.processor_maker = "A";
  EpochPoint like_slow = waiting(kNew, 16);
  like_slow.processor_maker = "B";
  EXPECT_LT(seconds(times, like_fast), 1000 / 16.0 / 1.6);
  EXPECT_GT(seconds(times, like_slow), 1000 / 16.0 / 1.25);
}

// The law predicts the rows of each of the two GPUs from the other one exactly, so they ask for the
// least factor, a quarter. Two units have the weight 1/3, over all workloads and for this one,
// which makes it 1/4^(1/3 + 2/3 · 1/3) = 0.46; one GPU alone cannot contradict the priors.
TEST(EpochEffects, LearnsTheWidthOfIntervalsFromGpusHeldOut) {
  std::vector<EpochPoint> one;
  for (const EpochPoint& point : known()) {
    if (point.gpu == &kFast) one.push_back(point);
  }
  const double unlearned = EpochTimes::fit(one).estimate(bound(kNew, 16, 1))->deviation;
  EXPECT_LT(EpochTimes::fit(known()).estimate(bound(kNew, 16, 1))->deviation, 0.6 * unlearned);
}

TEST(EpochEffects, IsLessSureOfAnotherGpu) {
  const EpochTimes times = EpochTimes::fit(known());
  EXPECT_GT(times.estimate(bound(kNew, 16, 1))->deviation,
            times.estimate(bound(kFast, 16, 1))->deviation);
  EXPECT_GT(times.estimate(waiting(kNew, 16))->deviation, 0.2);
}

TEST(EpochEffects, KnowsNothingOfAnotherWorkload) {
  EpochPoint point = bound(kFast, 16, 1);
  point.workload = "other";
  EXPECT_FALSE(EpochTimes::fit(known()).estimate(point));
}

TEST(EpochEffects, TakesAWorkloadWithASingleBatch) {
  const EpochTimes times = EpochTimes::fit({bound(kSlow, 16, 1)});
  EXPECT_NEAR(seconds(times, bound(kFast, 32, 1)), 500, 25);
}

}  // namespace
}  // namespace stint
