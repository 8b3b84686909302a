#include "provider/emulated/shared_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cloud/namespaces.h"

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
  EXPECT_DOUBLE_EQ(paid(both, 0, vm), 30 + 30);  // Alone from its launch at 10 to 40, then to 100.
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
  // The run had that machine, and released it.
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

class SharedEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    const HostSupport host = examine_host();
    for (const Status& status : {host.namespaces, host.network, host.shaping}) {
      if (!status.ok()) GTEST_SKIP() << "no emulated cloud here: " << status.error().message;
    }
    auto made = LocalCluster::start(place_.path() + "/clusters",
                                    {.name = fmt::format("s{}", ::getpid()), .vms = {}});
    ASSERT_TRUE(made.ok()) << made.error().message;
    cluster_ = std::move(*made);
  }
  void TearDown() override {
    if (cluster_) (void)cluster_->down();
  }

  SharedEngine member(int number) {
    return {*cluster_,
            {.folder = place_.path(),
             .member = number,
             .variables = {fmt::format("MEMBER={}", number)},
             .log_folder = place_.path()}};
  }
  static MachineOrder wanted(const std::string& name) {
    return {.name = name,
            .type = "local.small",
            .network = kGbit / kSecond,
            .price = 1 * kDollar / kHour};
  }

  static bool accepted(const Engine& engine, const MachineOrder& order) {
    const auto answer = engine.request(order);
    return answer.ok() && !*answer;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::optional<LocalCluster> cluster_;
};

TEST_F(SharedEngineTest, TheSecondRunJoinsTheMachineOfTheFirstAndTheLastGivesItBack) {
  const SharedEngine a = member(0);
  const SharedEngine b = member(1);
  ASSERT_TRUE(accepted(a, wanted("vm1")));
  ASSERT_TRUE(accepted(b, wanted("vm5")));
  ASSERT_EQ(cluster_->status()->vms.size(), 1u);
  EXPECT_DOUBLE_EQ(cluster_->status()->vms[0].price.in(kDollar / kHour), 2);
  EXPECT_DOUBLE_EQ(a.look()->machines[0].price.in(kDollar / kHour), 1);
  EXPECT_EQ(b.look()->machines[0].name, "vm5");

  ASSERT_TRUE(a.release("vm1").ok());
  EXPECT_EQ(a.look()->machines[0].phase, MachinePhase::kGone);
  EXPECT_EQ(b.look()->machines[0].phase, MachinePhase::kUp);
  EXPECT_EQ(cluster_->status()->vms[0].phase, VmPhase::kRunning);
  ASSERT_TRUE(b.release("vm5").ok());
  const ClusterStatus status = *cluster_->status();
  EXPECT_EQ(status.vms[0].phase, VmPhase::kTaken);
  const double paid = (*a.look()->machines[0].cost + *b.look()->machines[0].cost).in(kDollar);
  EXPECT_NEAR(paid, status.vms[0].cost.in(kDollar), 1e-12);
}

TEST_F(SharedEngineTest, AnotherKindOfMachineIsRentedAnew) {
  const SharedEngine a = member(0);
  const SharedEngine b = member(1);
  ASSERT_TRUE(accepted(a, wanted("vm1")));
  MachineOrder other = wanted("vm1");
  other.type = "local.large";
  ASSERT_TRUE(accepted(b, other));
  EXPECT_EQ(cluster_->status()->vms.size(), 2u);
  EXPECT_EQ(b.look()->machines.size(), 1u);
  EXPECT_EQ(b.look()->machines[0].type, "local.large");
}

TEST_F(SharedEngineTest, ProgramsAreToldWhereTheTurnstileOfTheirMachineIs) {
  const SharedEngine a = member(0);
  ASSERT_TRUE(accepted(a, wanted("vm7")));
  const std::string path = place_.path() + "/out";
  const int out = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(out, 0);
  const auto pid = a.spawn(
      "vm7",
      {.words = {"/bin/sh", "-c", "echo $STINT_TURNSTILE $STINT_TURNS_LOG $MEMBER"}, .out = out});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  EXPECT_EQ(wait_for_exit(*pid), 0);
  ::close(out);
  EXPECT_EQ(*read_file(path),
            fmt::format("{0}/vm1.turnstile {0}/vm1-turns.jsonl 0\n", place_.path()));
}

TEST_F(SharedEngineTest, AMachineThatARunNeverHadIsNotItsToGiveBack) {
  const SharedEngine a = member(0);
  ASSERT_TRUE(accepted(a, wanted("vm1")));
  EXPECT_TRUE(member(1).release("vm1").ok());
  EXPECT_EQ(a.look()->machines[0].phase, MachinePhase::kUp);
  EXPECT_FALSE(member(1).spawn("vm1", {.words = {"true"}}).ok());
}

TEST_F(SharedEngineTest, TheSameOrderTwiceRentsOneMachine) {
  const SharedEngine a = member(0);
  ASSERT_TRUE(accepted(a, wanted("vm1")));
  ASSERT_TRUE(accepted(a, wanted("vm1")));
  EXPECT_EQ(cluster_->status()->vms.size(), 1u);
  EXPECT_EQ(a.look()->machines.size(), 1u);
}

}  // namespace

}  // namespace stint
