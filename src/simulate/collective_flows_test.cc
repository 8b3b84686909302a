#include "simulate/collective_flows.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr Link kNetwork{.inverse_bandwidth = 1 * kSecond / kGB, .latency = 1 * kMillisecond};
constexpr Link kInside{.inverse_bandwidth = {}, .latency = 0.1 * kMillisecond};

StepSetup setup_of(int vms, int workers_per_vm, Collective collective) {
  return {.groups = {{.vms = vms,
                      .workers_per_vm = workers_per_vm,
                      .network = kNetwork,
                      .inside = kInside}},
          .collective = collective};
}

/// The flows of a setup on a network of their own.
struct Played {
  explicit Played(const StepSetup& setup, Detail detail = Detail::kEachVm)
      : chains(collective_flows(network, setup, add_links(network, setup, detail))) {}

  std::size_t length(const Send& send) const { return network.route(send.route).size(); }

  FlowNetwork network;
  std::vector<Chain> chains;
};

TEST(CollectiveFlows, OneWorkerSendsNothing) {
  for (const Collective collective : {Collective::kRing, Collective::kHierarchical,
                                      Collective::kParameterServer, Collective::kTopK}) {
    EXPECT_TRUE(Played(setup_of(1, 1, collective)).chains.empty());
  }
}

// Four VMs: 2 · 3/4 of the bucket through four NICs, out and in, after 6 latencies of 1 ms.
TEST(CollectiveFlows, ARingLoadsEveryNic) {
  const Played played(setup_of(4, 8, Collective::kRing));
  const std::vector<Chain>& chains = played.chains;
  ASSERT_EQ(chains.size(), 1U);
  ASSERT_EQ(chains[0].size(), 1U);
  ASSERT_EQ(chains[0][0].size(), 1U);
  const Send& send = chains[0][0][0];
  EXPECT_NEAR(send.size, 1.5, 1e-12);
  EXPECT_NEAR(send.latency.in(kMillisecond), 6, 1e-9);
  EXPECT_EQ(played.length(send), 8U);
}

// Four workers in one VM: the same inside it, after 6 · 0.1 ms.
TEST(CollectiveFlows, ARingInsideOneVmUsesItsLink) {
  const Played played(setup_of(1, 4, Collective::kRing));
  const std::vector<Chain>& chains = played.chains;
  const Send& send = chains.at(0).at(0).at(0);
  EXPECT_NEAR(send.size, 1.5, 1e-12);
  EXPECT_NEAR(send.latency.in(kMillisecond), 0.6, 1e-9);
  EXPECT_EQ(played.length(send), 1U);
}

// Three stages: 3/4 inside each of two VMs, 2 · 1/2 between them, 3/4 inside. A VM of one worker
// has nothing to do inside, and one VM nothing between.
TEST(CollectiveFlows, AHierarchyGoesInAndOut) {
  StepSetup setup = setup_of(2, 4, Collective::kHierarchical);
  const Played equal(setup);
  const Chain& chain = equal.chains.at(0);
  ASSERT_EQ(chain.size(), 3U);
  EXPECT_EQ(chain[0].size(), 2U);
  EXPECT_NEAR(chain[0][0].size, 0.75, 1e-12);
  EXPECT_NEAR(chain[0][0].latency.in(kMillisecond), 0.3, 1e-9);
  EXPECT_NEAR(chain[1].at(0).size, 1, 1e-12);
  EXPECT_EQ(chain[2].size(), 2U);

  setup.groups.push_back({.vms = 1, .workers_per_vm = 1});
  const Played mixed(setup);
  EXPECT_EQ(mixed.chains.at(0).at(0).size(), 2U);
  EXPECT_EQ(mixed.length(mixed.chains[0].at(1).at(0)), 6U);
  EXPECT_EQ(Played(setup_of(2, 1, Collective::kHierarchical)).chains.at(0).size(), 1U);
  EXPECT_EQ(Played(setup_of(1, 2, Collective::kHierarchical)).chains.at(0).size(), 2U);
}

// Three VMs of two workers on two servers: each pushes 2/2 of the bucket to each, then pulls it.
TEST(CollectiveFlows, EachServerIsAChain) {
  StepSetup setup = setup_of(3, 2, Collective::kParameterServer);
  setup.servers = 2;
  const Played played(setup);
  const std::vector<Chain>& chains = played.chains;
  ASSERT_EQ(chains.size(), 2U);
  for (const Chain& chain : chains) {
    ASSERT_EQ(chain.size(), 2U);
    for (const Stage& stage : chain) {
      ASSERT_EQ(stage.size(), 3U);
      EXPECT_NEAR(stage[0].size, 1, 1e-12);
      EXPECT_NEAR(stage[0].latency.in(kMillisecond), 1, 1e-9);
    }
  }
  const auto route = [&](std::size_t server) {
    return played.network.route(chains[server][0][0].route);
  };
  EXPECT_EQ(route(0)[0].resource, route(1)[0].resource);
  EXPECT_NE(route(0)[1].resource, route(1)[1].resource);
  setup.groups[0].vms = 1;
  const Played alone(setup);
  EXPECT_EQ(alone.length(alone.chains.at(1).at(0).at(0)), 1U);
}

// Servers are like VMs 0, 1, 2, 0: three of the first group and one of the second. The latency of a
// flow is that of its slower end.
TEST(CollectiveFlows, ServersAreRentedLikeTheVms) {
  StepSetup setup = setup_of(2, 1, Collective::kParameterServer);
  setup.groups.push_back({.vms = 1, .network = {.latency = 5 * kMillisecond}});
  setup.servers = 4;
  FlowNetwork network;
  const ClusterLinks links = add_links(network, setup, Detail::kEachVm);
  ASSERT_EQ(links.servers.size(), 4U);
  EXPECT_EQ(links.servers[2].group, &setup.groups[0]);
  EXPECT_EQ(links.servers[3].group, &setup.groups[1]);
  const std::vector<Chain> chains = collective_flows(network, setup, links);
  EXPECT_NEAR(chains[0][0][1].latency.in(kMillisecond), 1, 1e-9);
  EXPECT_NEAR(chains[0][0][2].latency.in(kMillisecond), 5, 1e-9);
  EXPECT_NEAR(chains[3][0][0].latency.in(kMillisecond), 5, 1e-9);
}

// Three VMs and five servers, like VMs 0, 1, 2, 0, 1: the NIC of a VM of the first group carries
// four flows to servers like its own, and the NIC of such a server two flows from the group.
TEST(CollectiveFlows, OneVmStandsForItsGroup) {
  StepSetup setup = setup_of(2, 1, Collective::kParameterServer);
  setup.groups.push_back({.vms = 1, .network = kNetwork});
  setup.servers = 5;
  const Played played(setup, Detail::kEachGroup);
  ASSERT_EQ(played.chains.size(), 2U);
  ASSERT_EQ(played.chains[0].at(0).size(), 2U);
  const Send& push = played.chains[0][0][0];
  EXPECT_NEAR(push.size, 0.2, 1e-12);
  EXPECT_EQ(played.network.route(push.route)[0].share, 4);
  EXPECT_EQ(played.network.route(push.route)[1].share, 2);
  setup.collective = Collective::kRing;
  const Played ring(setup, Detail::kEachGroup);
  EXPECT_NEAR(ring.chains.at(0).at(0).at(0).size, 2 * 2.0 / 3, 1e-12);
  EXPECT_EQ(ring.length(ring.chains[0][0][0]), 4U);
}

// Six workers: 5 · 0.01 · (1 + 1) of the bucket after 5 latencies and 2 ms of selection.
TEST(CollectiveFlows, TopKGathersFromEveryWorker) {
  StepSetup setup = setup_of(3, 2, Collective::kTopK);
  setup.sparsification = {
      .density = 0.01, .index_bytes_per_value = 1, .selection = 2 * kMillisecond};
  const Played played(setup);
  const std::vector<Chain>& chains = played.chains;
  const Send& send = chains.at(0).at(0).at(0);
  EXPECT_NEAR(send.size, 0.1, 1e-12);
  EXPECT_NEAR(send.latency.in(kMillisecond), 7, 1e-9);
  EXPECT_EQ(played.length(send), 6U);
}

}  // namespace
}  // namespace stint
