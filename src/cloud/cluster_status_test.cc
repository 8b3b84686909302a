#include "cloud/cluster_status.h"

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

// Launched at 1000 s; from 1010 s on spot prices are three times as high: 50 s cost 10 + 3 * 40 =
// 130 times 0.0001 USD, and on demand 50 times.
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

// Launched at 1000 s with a life of 600 s: notice at 1480 s, lost at 1600 s.
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

ClusterStatus sample() {
  const auto vm = [](const char* name, Market market, double price) {
    return born_vm({.name = name,
                    .type = "local.small",
                    .market = market,
                    .network = 100 * kMbit / kSecond,
                    .price = price * kDollar / kHour},
                   "10.77.0.1", 120 * kSecond, Seconds{});
  };
  std::vector<VmRecord> vms = {vm("vm1", Market::kOnDemand, 0.36), vm("vm2", Market::kSpot, 0.036)};
  preempt(vms[1], 60 * kSecond, 100 * kSecond);
  const ClusterSpec spec{.name = "a", .vms = {}, .pool = {{.at = 50 * kSecond, .spot = 1}}};
  return status_of(spec, 1000 * kSecond, vms, 100 * kSecond);
}

// 100 s at 0.36 USD/h are 0.01 USD, at 0.036 USD/h a tenth of that. The cluster was created at 1000
// s, so that the VM is preempted at 1000 + 100 + 60 s = 19 min 20 s.
TEST(ClusterStatus, BillsEachMarket) {
  const ClusterStatus status = sample();
  EXPECT_NEAR(status.cost_on_demand.in(kDollar), 0.01, 1e-12);
  EXPECT_NEAR(status.cost_spot.in(kDollar), 0.001, 1e-12);
  EXPECT_EQ(status.vms[1].phase, VmPhase::kNoticed);
  EXPECT_EQ(status.vms[1].takes_at, "1970-01-01T00:19:20Z");
}

TEST(ClusterStatus, TellsWhatIsLeftAndWhatThereIs) {
  const ClusterStatus status = sample();
  EXPECT_EQ(status.since, "1970-01-01T00:16:40Z");
  EXPECT_EQ(status.age, 100 * kSecond);
  EXPECT_EQ(status.spot_capacity, 1);
  EXPECT_EQ(status.vms[1].takes_in, 60 * kSecond);
  EXPECT_FALSE(status.vms[0].takes_in.has_value());
  EXPECT_NEAR(status.vms[0].price.in(kDollar / kHour), 0.36, 1e-12);
}

TEST(ClusterStatus, ReadsBackWhatItWrites) {
  const auto read = decode<ClusterStatus>(encode(sample(), kClusterSchema), kClusterSchema, "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_EQ(encode(read->noun, kClusterSchema), encode(sample(), kClusterSchema));
}

TEST(ClusterStatus, AVmThatIsNotThereIsAUsageError) {
  const ClusterStatus status = sample();
  EXPECT_EQ((*find_vm(status, "vm2"))->name, "vm2");
  const auto none = find_vm(status, "vm3");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "the cluster a has no VM 'vm3', only vm1, vm2");
  const auto empty = find_vm({.name = "a", .since = ""}, "vm1");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message, "the cluster a has no VM 'vm1'");
}

}  // namespace

}  // namespace stint
