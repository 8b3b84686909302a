#include "provider/emulated/emulated_engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "cloud/namespaces.h"

namespace stint {
namespace {

TEST(EmulatedEngine, ErrorsOfWhichNobodyKnowsTheCauseAreNoRefusals) {
  const MachineOrder order{.name = "vm1"};
  EXPECT_FALSE(refusal_of(failed("no answer from the peer"), order).ok());
  const auto full = refusal_of(unavailable("there is no spot capacity"), order);
  ASSERT_TRUE(full.ok() && *full);
  EXPECT_TRUE((*full)->again);
  const auto wrong = refusal_of(bad_usage("one computer emulates up to 64 VMs"), order);
  ASSERT_TRUE(wrong.ok() && *wrong);
  EXPECT_FALSE((*wrong)->again);
}

TEST(EmulatedEngine, AMachineThatEndedIsGoneWithItsCost) {
  ClusterStatus status{.name = "c", .spot_capacity = 2};
  status.vms.push_back({.name = "vm1", .phase = VmPhase::kNoticed, .takes_in = 5 * kSecond});
  status.vms.push_back(
      {.name = "vm2", .phase = VmPhase::kTaken, .age = 3 * kSecond, .cost = 2 * kDollar});
  const MachineList list = machines_of(status);
  EXPECT_EQ(list.spot_capacity, 2);
  EXPECT_EQ(list.machines[0].phase, MachinePhase::kNoticed);
  EXPECT_EQ(list.machines[0].takes_in, 5 * kSecond);
  EXPECT_EQ(list.machines[1].phase, MachinePhase::kGone);
  EXPECT_EQ(list.machines[1].paid, 3 * kSecond);
  EXPECT_EQ(list.machines[1].cost, 2 * kDollar);
}

TEST(EmulatedEngine, OrdersOfOneNameRentOneMachine) {
  const HostSupport host = examine_host();
  for (const Status& status : {host.namespaces, host.network, host.shaping}) {
    if (!status.ok()) GTEST_SKIP() << "no emulated cloud here: " << status.error().message;
  }
  const TemporaryFolder place = std::move(*TemporaryFolder::make());
  auto cluster = LocalCluster::start(place.path() + "/clusters",
                                     {.name = fmt::format("e{}", ::getpid()), .vms = {}});
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const EmulatedEngine engine(*cluster);
  const MachineOrder order{.name = "vm1", .type = "local.small", .network = kGbit / kSecond};
  for (int i = 0; i < 2; ++i) {
    const auto asked = engine.request(order);
    ASSERT_TRUE(asked.ok()) << asked.error().message;
    EXPECT_FALSE(*asked);
  }
  EXPECT_EQ(engine.look()->machines.size(), 1U);
  EXPECT_TRUE(engine.release("never").ok());
  EXPECT_TRUE(engine.release("vm1").ok());
  EXPECT_TRUE(engine.release("vm1").ok());
  EXPECT_EQ(engine.look()->machines[0].phase, MachinePhase::kGone);
  (void)cluster->down();
}

}  // namespace
}  // namespace stint
