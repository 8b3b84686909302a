#include "simulate/spot_supply.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

// Ticks of ten minutes: 2, 1, 0, 2, 2 machines.
AvailabilityTrace trace() { return {.name = "", .gap = 10 * kMinute, .counts = {2, 1, 0, 2, 2}}; }

TEST(TraceSupply, GivesAndTakesAsTheTraceCounts) {
  const AvailabilityTrace counted = trace();
  const TraceSupply supply(counted, Seconds());
  Random random(1);
  EXPECT_EQ(supply.granted(0, Seconds(), random), Seconds());
  EXPECT_EQ(supply.lost(0, Seconds(), Seconds(), random), 20 * kMinute);
  EXPECT_EQ(supply.lost(1, Seconds(), Seconds(), random), 10 * kMinute);
  EXPECT_EQ(supply.granted(1, 10 * kMinute, random), 30 * kMinute);
  // The trace ends at 50 min and begins again: the second machine goes at 60 min.
  EXPECT_EQ(supply.lost(1, 30 * kMinute, 30 * kMinute, random), 60 * kMinute);
  EXPECT_TRUE(std::isinf(supply.granted(2, Seconds(), random).in(kSecond)));
  EXPECT_EQ(supply.taken_along(0, random), 0);
}

TEST(TraceSupply, BeginsWhereItIsTold) {
  const AvailabilityTrace counted = trace();
  const TraceSupply supply(counted, 15 * kMinute);
  Random random(1);
  EXPECT_EQ(supply.granted(0, Seconds(), random), Seconds());
  EXPECT_EQ(supply.granted(1, Seconds(), random), 15 * kMinute);
  EXPECT_EQ(supply.lost(0, Seconds(), Seconds(), random), 5 * kMinute);
}

// A constant hazard of one per hour: lives of an hour on average, whose mean over 20,000 draws has
// a standard error of 0.0071 h.
TEST(SampledSupply, DrawsLivesFromTheHazard) {
  const SampledSupply supply({{.count = 3, .hazard = Hazard::constant(1 / kHour)}});
  Random random(2);
  Seconds sum;
  for (int i = 0; i < 20000; ++i) sum += supply.lost(1, 1 * kHour, 2 * kHour, random) - 2 * kHour;
  EXPECT_NEAR(sum.in(kHour) / 20000, 1, 0.022);
}

TEST(SampledSupply, MakesSomeWait) {
  const SampledSupply supply({{.count = 1,
                               .hazard = Hazard::constant(PerSecond()),
                               .wait = {.at_once = 0.75, .otherwise = {10 * kMinute, Seconds()}}}});
  Random random(3);
  EXPECT_EQ(supply.granted(0, Seconds(), random), Seconds());
  int late = 0;
  for (int i = 0; i < 10000; ++i) late += supply.granted(0, kHour, random) > kHour ? 1 : 0;
  EXPECT_NEAR(late, 2500, 130);  // Three standard errors.
}

// Half of the losses take each of the four others with a chance of 0.25: the first hit comes at
// 1/(1 + 0.5 · 0.25 · 4) = 2/3 of the rate.
TEST(SampledSupply, KeepsTheRateOfOneMachineUnderShocks) {
  const SampledSupply supply(
      {{.count = 5, .hazard = Hazard::constant(1 / kHour), .shock = {0.5, 0.25}}});
  Random random(4);
  Seconds sum;
  double taken = 0;
  for (int i = 0; i < 20000; ++i) {
    sum += supply.lost(0, Seconds(), Seconds(), random);
    taken += supply.taken_along(0, random);
  }
  EXPECT_NEAR(sum.in(kHour) / 20000, 1.5, 0.032);
  EXPECT_NEAR(taken / 20000, 0.125, 0.003);
}

}  // namespace
}  // namespace stint
