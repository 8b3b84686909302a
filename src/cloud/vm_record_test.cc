#include "cloud/vm_record.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

VmRecord sample(std::optional<Seconds> life) {
  const VmSpec spec{
      .name = "vm1", .type = "local.small", .price = 0.36 * kDollar / kHour, .life = life};
  return born_vm(spec, "10.77.0.1", 120 * kSecond, 1000 * kSecond);
}

// 0.36 USD/h is 0.0001 USD/s; 50 s cost 0.005 USD.
TEST(VmRecord, CostsItsPriceFromBirthUntilItEnds) {
  VmRecord vm = sample({});
  EXPECT_NEAR(cost_of(vm, {}, 1050 * kSecond).in(kDollar), 0.005, 1e-12);
  vm.ended = 1020 * kSecond;
  EXPECT_NEAR(cost_of(vm, {}, 1050 * kSecond).in(kDollar), 0.002, 1e-12);
  EXPECT_NEAR(cost_of(vm, {}, 900 * kSecond).in(kDollar), 0.002, 1e-12);
}

// Born at 1000 s; from 1010 s on spot prices are three times as high: 50 s cost 10 + 3 * 40 = 130
// times 0.0001 USD, and on demand 50 times.
TEST(VmRecord, OnlySpotPricesFollowThePool) {
  const std::vector<PoolChange> pool = {{.at = 1010 * kSecond, .spot = 9, .price_factor = 3}};
  VmRecord vm = sample({});
  EXPECT_NEAR(cost_of(vm, pool, 1050 * kSecond).in(kDollar), 0.005, 1e-12);
  EXPECT_NEAR(price_of(vm, pool, 1050 * kSecond).in(kDollar / kSecond), 0.0001, 1e-12);
  vm.spec.market = Market::kSpot;
  EXPECT_NEAR(cost_of(vm, pool, 1050 * kSecond).in(kDollar), 0.013, 1e-12);
  EXPECT_NEAR(price_of(vm, pool, 1050 * kSecond).in(kDollar / kSecond), 0.0003, 1e-12);
  vm.ended = 1020 * kSecond;
  EXPECT_NEAR(cost_of(vm, pool, 1050 * kSecond).in(kDollar), 0.004, 1e-12);
  EXPECT_EQ(price_of(vm, pool, 1050 * kSecond), DollarsPerSecond{});
}

TEST(VmRecord, WithoutALifeItRunsOn) {
  const VmRecord vm = sample({});
  EXPECT_EQ(phase_of(vm, 1e9 * kSecond), VmPhase::kRunning);
  EXPECT_FALSE(next_event(vm, 1000 * kSecond).has_value());
}

// Born at 1000 s with 600 s to live: told at 1480 s, gone at 1600 s.
TEST(VmRecord, ALifeEndsWithANotice) {
  const VmRecord vm = sample(600 * kSecond);
  EXPECT_EQ(phase_of(vm, 1479 * kSecond), VmPhase::kRunning);
  EXPECT_EQ(*next_event(vm, 1479 * kSecond), 1480 * kSecond);
  EXPECT_EQ(phase_of(vm, 1480 * kSecond), VmPhase::kNoticed);
  EXPECT_EQ(*next_event(vm, 1480 * kSecond), 1600 * kSecond);
  EXPECT_EQ(phase_of(vm, 1600 * kSecond), VmPhase::kTaken);
}

TEST(VmRecord, ACommandTakesItSoonerButNeverLater) {
  VmRecord vm = sample(600 * kSecond);
  preempt(vm, 10 * kSecond, 1100 * kSecond);
  EXPECT_EQ(phase_of(vm, 1100 * kSecond), VmPhase::kNoticed);
  EXPECT_EQ(*vm.takes_at, 1110 * kSecond);
  preempt(vm, 60 * kSecond, 1100 * kSecond);
  EXPECT_EQ(*vm.takes_at, 1110 * kSecond);
}

TEST(VmRecord, OneThatEndedIsTaken) {
  VmRecord vm = sample({});
  vm.ended = 1001 * kSecond;
  EXPECT_EQ(phase_of(vm, 1002 * kSecond), VmPhase::kTaken);
  EXPECT_FALSE(next_event(vm, 1002 * kSecond).has_value());
}

}  // namespace
}  // namespace stint
