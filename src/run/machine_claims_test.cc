#include "run/machine_claims.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

VmStatus machine(const std::string& name, double born, double age) {
  return {.name = name,
          .type = "local.small",
          .born = born * kSecond,
          .age = age * kSecond,
          .price = 1 * kDollar / kHour,
          .cost = age * kSecond * (1 * kDollar / kHour)};
}

ClusterStatus cluster_of(std::vector<VmStatus> vms) {
  return {.name = "pair", .age = 100 * kSecond, .vms = std::move(vms)};
}

MachineClaim claim(const std::string& vm, int member, double since,
                   std::optional<double> until = {}) {
  MachineClaim it{.vm = vm, .member = member, .name = vm, .since = since * kSecond};
  if (until) it.until = *until * kSecond;
  return it;
}

double paid(const MachineClaims& claims, int member, const VmStatus& vm) {
  return paid_time(claims, *find_claim(claims, member, vm.name), vm).in(kSecond);
}

TEST(MachineClaimsTest, OneRunPaysAllAndTwoPayHalfEach) {
  const VmStatus vm = machine("vm1", 10, 90);
  EXPECT_DOUBLE_EQ(paid({{claim("vm1", 0, 12)}}, 0, vm), 90);
  const MachineClaims both{{claim("vm1", 0, 12), claim("vm1", 1, 40)}};
  EXPECT_DOUBLE_EQ(paid(both, 0, vm), 30 + 30);  // Alone from its birth at 10 to 40, then to 100.
  EXPECT_DOUBLE_EQ(paid(both, 1, vm), 30);
}

TEST(MachineClaimsTest, WhoeverLeavesLastPaysToTheEnd) {
  VmStatus vm = machine("vm1", 0, 100);
  vm.phase = VmPhase::kTaken;
  const MachineClaims claims{{claim("vm1", 0, 1, 50), claim("vm1", 1, 2, 99)}};
  EXPECT_DOUBLE_EQ(paid(claims, 0, vm), 2 + 24);
  EXPECT_DOUBLE_EQ(paid(claims, 1, vm), 24 + 50);
}

TEST(MachineClaimsTest, WhatBothPayIsTheBillWhateverHappens) {
  for (int seed = 0; seed < 200; ++seed) {
    const double since = seed % 7;
    const VmStatus vm = machine("vm1", 3, 20 + seed % 11);
    MachineClaims claims{{claim("vm1", seed % 2, 3.5), claim("vm1", 1 - seed % 2, 4 + since)}};
    if (seed % 3 == 0) claims.claims[0].until = (5.0 + seed % 13) * kSecond;
    if (seed % 5 == 0) claims.claims[1].until = (12.0 + seed % 5) * kSecond;
    const double sum = paid(claims, 0, vm) + paid(claims, 1, vm);
    const bool overlap =
        !claims.claims[0].until || *claims.claims[0].until >= claims.claims[1].since;
    if (!overlap) continue;
    EXPECT_NEAR(sum, vm.age.in(kSecond), 1e-9) << seed;
  }
}

TEST(MachineClaimsTest, ARunSeesItsOwnMachinesByItsOwnNames) {
  ClusterStatus status = cluster_of({machine("vm1", 0, 100), machine("vm2", 0, 100)});
  status.vms[0].name = "vm1";
  MachineClaims claims{{claim("vm1", 0, 0), claim("vm1", 1, 0), claim("vm2", 0, 0)}};
  claims.claims[1].name = "vm7";
  const ClusterStatus first = view_of(claims, status, 0);
  ASSERT_EQ(first.vms.size(), 2u);
  EXPECT_DOUBLE_EQ(first.vms[0].price.in(kDollar / kHour), 0.5);
  EXPECT_DOUBLE_EQ(first.vms[1].price.in(kDollar / kHour), 1);
  const ClusterStatus second = view_of(claims, status, 1);
  ASSERT_EQ(second.vms.size(), 1u);
  EXPECT_EQ(second.vms[0].name, "vm7");
  EXPECT_NEAR((first.cost_on_demand + second.cost_on_demand).in(kDollar), 200.0 / 3600, 1e-12);
}

TEST(MachineClaimsTest, AMachineThatWasGivenBackIsGoneForThisRunOnly) {
  const ClusterStatus status = cluster_of({machine("vm1", 0, 100)});
  const MachineClaims claims{{claim("vm1", 0, 0, 60), claim("vm1", 1, 0)}};
  EXPECT_EQ(view_of(claims, status, 0).vms[0].phase, VmPhase::kTaken);
  EXPECT_TRUE(view_of(claims, status, 0).vms[0].released.value_or(false));
  EXPECT_EQ(view_of(claims, status, 1).vms[0].phase, VmPhase::kRunning);
  EXPECT_DOUBLE_EQ(view_of(claims, status, 1).vms[0].price.in(kDollar / kHour), 1);
}

TEST(MachineClaimsTest, OnlyMachinesOfTheSameKindThatStayAreJoined) {
  ClusterStatus status = cluster_of({machine("vm1", 0, 100), machine("vm2", 0, 100)});
  const VmSpec wanted{.name = "vm1", .type = "local.small"};
  const MachineClaims none;
  EXPECT_EQ(machine_to_join(none, status, 0, wanted)->name, "vm1");
  status.vms[0].phase = VmPhase::kNoticed;
  EXPECT_EQ(machine_to_join(none, status, 0, wanted)->name, "vm2");
  // It had that one, and gave it back.
  EXPECT_EQ(machine_to_join({{claim("vm2", 0, 0, 5)}}, status, 0, wanted), nullptr);
  EXPECT_EQ(machine_to_join(none, status, 0, {.name = "x", .type = "local.large"}), nullptr);
  EXPECT_EQ(machine_to_join(none, status, 0,
                            {.name = "x", .type = "local.small", .market = Market::kSpot}),
            nullptr);
}

TEST(MachineClaimsTest, AreReadAsTheyWereWritten) {
  const MachineClaims claims{{claim("vm1", 0, 1.5, 60), claim("vm2", 1, 2)}};
  const auto read = read_machine_claims(write_machine_claims(claims), "claims");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->claims.size(), 2u);
  EXPECT_EQ(read->claims[0].until, claims.claims[0].until);
  EXPECT_EQ(read->claims[1].vm, "vm2");
  EXPECT_FALSE(read->claims[1].until);
  EXPECT_FALSE(read_machine_claims("{}", "claims").ok());
}

}  // namespace
}  // namespace stint
