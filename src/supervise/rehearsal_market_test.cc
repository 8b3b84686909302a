#include "supervise/rehearsal_market.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr int kMachines = 20'000;

// A loss an hour on average; with 20,000 lives the mean has a standard error of 0.0071 h. Nine in
// ten have a notice of two minutes.
TEST(RehearsalMarket, DrawsLivesFromTheHazard) {
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / kHour)}},
                             .notice = 2 * kMinute,
                             .without_notice = 0.1};
  const RehearsalMarket market(world, {}, 1, Random(1));
  Seconds lives;
  int sudden = 0;
  for (int vm = 0; vm < kMachines; ++vm) {
    const auto fate = market.fate(vm, 0, 3 * kHour);
    lives += fate.taken - 3 * kHour;
    const bool never = std::isinf(fate.noticed.in(kSecond));
    sudden += never ? 1 : 0;
    if (never) continue;
    EXPECT_GE(fate.noticed, 3 * kHour);
    EXPECT_LE(fate.taken - fate.noticed, 2 * kMinute + 1e-6 * kSecond);
  }
  EXPECT_NEAR(lives.in(kHour) / kMachines, 1, 0.022);
  EXPECT_NEAR(sudden, 2000, 130);
}

// Ten losses an hour in the first hour, then one in ten: e^−10 of the machines get older.
TEST(RehearsalMarket, YoungMachinesDieSooner) {
  const Hazard young({{Seconds{}, 10 / kHour}, {1 * kHour, 0.1 / kHour}});
  const RehearsalWorld world{.pools = {{.hazard = young}}};
  const RehearsalMarket market(world, {}, 1, Random(2));
  int old = 0;
  for (int vm = 0; vm < kMachines; ++vm) {
    old += market.fate(vm, 0, {}).taken > 6 * kMinute ? 1 : 0;  // e^−1 of them.
  }
  EXPECT_NEAR(old, std::exp(-1) * kMachines, 210);
}

// Five machines, half of whose losses are shared by shocks of mean reach 1/2 (b = 1): 5 · 0.5 +
// 0.5 · 2 · 5 / 6 = 10/3 interruptions for five losses, so that each takes 1.5 machines, and each
// machine is the first at 2/3 of its rate.
TEST(RehearsalMarket, KeepsTheRateOfOneMachineUnderShocks) {
  const RehearsalWorld world{
      .pools = {{.hazard = Hazard::constant(1 / kHour), .group = {.shared = 0.5, .reach = 0.5}}}};
  const RehearsalMarket market(world, {}, 5, Random(3));
  Seconds first;
  double beside = 0;
  for (int vm = 0; vm < kMachines; ++vm) {
    first += market.fate(vm, 0, {}).taken;
    const std::vector<int> lost = market.lost_beside(vm, 0, {11, 12, 13, 14});
    beside += static_cast<double>(lost.size());
    for (const int other : lost) EXPECT_TRUE(other >= 11 && other <= 14);
  }
  EXPECT_NEAR(first.in(kHour) / kMachines, 1.5, 0.033);
  EXPECT_NEAR(beside / kMachines, 0.5, 0.03);
}

TEST(RehearsalMarket, MachinesOutsideOfPoolsStay) {
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / kSecond)}},
                             .pool_of_slot = {0, std::nullopt}};
  const RehearsalMarket market(world, {}, 2, Random(4));
  EXPECT_LT(market.fate(0, 0, {}).taken, 1 * kHour);
  EXPECT_TRUE(std::isinf(market.fate(0, 1, {}).taken.in(kSecond)));
  EXPECT_FALSE(market.same_pool(0, 1));
}

// A quarter of the losses leaves a place empty, for an hour on average.
TEST(RehearsalMarket, SomePlacesStayEmpty) {
  const RehearsalWorld world{.pools = {{.missing = 0.25, .missing_for = 1 * kHour}}};
  int empty = 0;
  int long_empty = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    RehearsalMarket market(world, {}, 1, Random(seed));
    EXPECT_TRUE(market.has(0, 0, {}));
    market.vacate(0, 0, 5 * kHour);
    empty += market.has(0, 0, 5 * kHour) ? 0 : 1;
    long_empty += market.has(0, 0, 6 * kHour) ? 0 : 1;
  }
  EXPECT_NEAR(empty, 2500, 130);
  EXPECT_NEAR(long_empty, 2500 * std::exp(-1), 90);
}

// Two machines for ten minutes, then none for ten, again and again; the rehearsal begins after a
// quarter of an hour.
TEST(RehearsalMarket, RepeatsATrace) {
  const RehearsalWorld world{.capacity = {{.at = {}, .machines = 2}, {.at = 10 * kMinute}},
                             .lap = 20 * kMinute};
  RehearsalMarket market(world, 15 * kMinute, 2, Random(5));
  EXPECT_TRUE(market.capacity_known());
  EXPECT_EQ(market.capacity(), 0);
  EXPECT_FALSE(market.has(0, 0, {}));
  for (int lap = 0; lap < 3; ++lap) {
    EXPECT_NEAR(market.next_change().in(kMinute), 5 + 20 * lap, 1e-9);
    market.change_capacity(market.next_change());
    EXPECT_EQ(market.capacity(), 2);
    EXPECT_TRUE(market.has(1, 1, {}));
    EXPECT_FALSE(market.has(1, 2, {}));
    EXPECT_NEAR(market.next_change().in(kMinute), 15 + 20 * lap, 1e-9);
    market.change_capacity(market.next_change());
    EXPECT_EQ(market.capacity(), 0);
  }
}

TEST(RehearsalMarket, TellsPricesInTheirOrder) {
  const RehearsalWorld world{.prices = {{.at = 1 * kHour, .spot = 2 * kDollar / kHour}}};
  RehearsalMarket market(world, 20 * kMinute, 1, Random(6));
  EXPECT_NEAR(market.next_price().in(kMinute), 40, 1e-9);
  EXPECT_EQ(market.change_price().spot, 2 * kDollar / kHour);
  EXPECT_TRUE(std::isinf(market.next_price().in(kSecond)));
}

}  // namespace
}  // namespace stint
