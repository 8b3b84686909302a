#include "simulate/flow_network.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

using Path = std::vector<FlowNetwork::Crossing>;
using Ids = std::vector<FlowNetwork::FlowId>;

constexpr BytesPerSecond kGBps = kGB / kSecond;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Advances to the next change and returns the flows that ended there.
Ids step(FlowNetwork& network) {
  const auto ended = network.advance(network.next_change());
  return {ended.begin(), ended.end()};
}

/// Advances until a flow ends.
Ids next_ended(FlowNetwork& network) {
  Ids ended;
  while (ended.empty()) ended = step(network);
  return ended;
}

double now_ms(const FlowNetwork& network) { return network.now().in(kMillisecond); }

// 5 ms of latency, then 100 MB at 1 GB/s.
TEST(FlowNetwork, AFlowAloneTakesLatencyAndBytes) {
  FlowNetwork network;
  const auto nic = network.add_resource(kGBps);
  const auto flow = network.start(100 * kMB, 5 * kMillisecond, network.add_route(Path{{nic}}));
  EXPECT_EQ(network.rate(flow), BytesPerSecond{});
  EXPECT_EQ(step(network), Ids{});
  EXPECT_NEAR(now_ms(network), 5, 1e-9);
  EXPECT_EQ(network.rate(flow), kGBps);
  EXPECT_EQ(step(network), Ids{flow});
  EXPECT_NEAR(now_ms(network), 105, 1e-9);
  EXPECT_EQ(network.next_change(), kInfinite * kSecond);
}

// Half a GB/s each: B's 50 MB end at 100 ms, when A has 50 MB left, which end at 150 ms.
TEST(FlowNetwork, TwoFlowsShareANic) {
  FlowNetwork network;
  const auto nic = network.add_resource(kGBps);
  const auto a = network.start(100 * kMB, {}, network.add_route(Path{{nic}}));
  const auto b = network.start(50 * kMB, {}, network.add_route(Path{{nic}}));
  EXPECT_EQ(next_ended(network), Ids{b});
  EXPECT_NEAR(now_ms(network), 100, 1e-9);
  EXPECT_EQ(next_ended(network), Ids{a});
  EXPECT_NEAR(now_ms(network), 150, 1e-9);
}

// Two jobs on one NIC: A alone for 40 ms moves 40 MB; with B at half speed until B's 30 MB end at
// 100 ms, when A has 30 MB left; they end at 130 ms.
TEST(FlowNetwork, AFlowThatIsStartedLaterSlowsTheFirst) {
  FlowNetwork network;
  const auto nic = network.add_resource(kGBps);
  const auto a = network.start(100 * kMB, {}, network.add_route(Path{{nic}}));
  step(network);
  EXPECT_TRUE(network.advance(40 * kMillisecond).empty());
  const auto b = network.start(30 * kMB, {}, network.add_route(Path{{nic}}));
  EXPECT_EQ(next_ended(network), Ids{b});
  EXPECT_NEAR(now_ms(network), 100, 1e-9);
  EXPECT_EQ(next_ended(network), Ids{a});
  EXPECT_NEAR(now_ms(network), 130, 1e-9);
}

// Through X (1 GB/s) two flows at 0.5 each; the second crosses Y (3 GB/s) too and leaves 2.5 of it
// to the third.
TEST(FlowNetwork, WhatOneCannotUseGoesToTheOthers) {
  FlowNetwork network;
  const auto x = network.add_resource(kGBps);
  const auto y = network.add_resource(3 * kGBps);
  const auto first = network.start(kGB, {}, network.add_route(Path{{x}}));
  const auto second = network.start(kGB, {}, network.add_route(Path{{x}, {y}}));
  const auto third = network.start(kGB, {}, network.add_route(Path{{y}}));
  step(network);
  EXPECT_NEAR(network.rate(first).in(kGBps), 0.5, 1e-12);
  EXPECT_NEAR(network.rate(second).in(kGBps), 0.5, 1e-12);
  EXPECT_NEAR(network.rate(third).in(kGBps), 2.5, 1e-12);
}

// Shares 2 and 1 fill 3 GB/s at 1 GB/s each; alone, the second gets all 3.
TEST(FlowNetwork, AShareCountsTheBytesThatCross) {
  FlowNetwork network;
  const auto link = network.add_resource(3 * kGBps);
  const auto twice =
      network.start(kGB, {}, network.add_route(Path{{.resource = link, .share = 2}}));
  const auto once = network.start(2 * kGB, {}, network.add_route(Path{{link}}));
  step(network);
  EXPECT_NEAR(network.rate(twice).in(kGBps), 1, 1e-12);
  EXPECT_NEAR(network.rate(once).in(kGBps), 1, 1e-12);
  EXPECT_EQ(next_ended(network), Ids{twice});
  EXPECT_NEAR(network.rate(once).in(kGBps), 3, 1e-12);
}

TEST(FlowNetwork, WhatNothingBoundsArrivesAfterItsLatency) {
  FlowNetwork network;
  const auto free = network.add_resource(kInfinite * kGBps);
  const auto nic = network.add_resource(kGBps);
  const auto fast = network.start(kGB, 2 * kMillisecond, network.add_route(Path{{free}}));
  const auto empty = network.start({}, 2 * kMillisecond, network.add_route(Path{{nic}}));
  const auto nowhere = network.start(kGB, 2 * kMillisecond, network.add_route(Path{}));
  const auto slow =
      network.start(10 * kMB, 2 * kMillisecond, network.add_route(Path{{free}, {nic}}));
  EXPECT_EQ(next_ended(network), (Ids{fast, empty, nowhere}));
  EXPECT_NEAR(now_ms(network), 2, 1e-9);
  EXPECT_EQ(next_ended(network), Ids{slow});
  EXPECT_NEAR(now_ms(network), 12, 1e-9);
}

// While the reader of an answer starts new flows, the ids in it stay theirs.
TEST(FlowNetwork, AnIdIsUsedAgainOnlyAfterTheNextAdvance) {
  FlowNetwork network;
  const auto nic = network.add_resource(kGBps);
  network.start(kMB, {}, network.add_route(Path{{nic}}));
  network.start(kMB, {}, network.add_route(Path{{nic}}));
  EXPECT_EQ(next_ended(network), (Ids{0, 1}));
  EXPECT_EQ(network.start(kMB, {}, network.add_route(Path{{nic}})), 2U);
  EXPECT_EQ(next_ended(network), Ids{2});
  EXPECT_LT(network.start(kMB, {}, network.add_route(Path{{nic}})), 2U);
}

// 700 flows over seven links: whatever rounding does to their rates, they end in one event.
TEST(FlowNetwork, EqualFlowsEndTogether) {
  FlowNetwork network;
  std::vector<FlowNetwork::RouteId> routes;
  for (int i = 0; i < 7; ++i) {
    const auto link = network.add_resource((1.0 + i) / 3 * kGBps);
    routes.push_back(network.add_route(Path{{link}}));
  }
  for (std::size_t i = 0; i < 700; ++i) {
    const double link = static_cast<double>(i % 7);
    network.start((1.0 + link) / 7 * kMB, 0.1 * kMillisecond, routes[i % 7]);
  }
  step(network);
  EXPECT_EQ(step(network).size(), 700U);
}

/// A network with flows through one to three of its resources.
struct Crowd {
  FlowNetwork network;
  std::vector<double> capacities;  // In GB/s.
  std::vector<Path> paths;         // By flow.
};

Crowd random_crowd(Random& random) {
  Crowd crowd;
  const int resources = 1 + random.below(8);
  for (int i = 0; i < resources; ++i) {
    crowd.capacities.push_back(random.uniform(0.1, 2));
    crowd.network.add_resource(crowd.capacities.back() * kGBps);
  }
  for (int flows = 1 + random.below(20); flows > 0; --flows) {
    Path path;
    for (int i = 1 + random.below(3); i > 0; --i) {
      const auto id = static_cast<std::size_t>(random.below(resources));
      const bool known =
          std::any_of(path.begin(), path.end(), [&](const auto& it) { return it.resource == id; });
      if (!known) path.push_back({.resource = id, .share = random.uniform(0.2, 2)});
    }
    crowd.network.start(random.uniform(1, 100) * kMB, {}, crowd.network.add_route(path));
    crowd.paths.push_back(path);
  }
  return crowd;
}

// The certificate of max–min fairness: nothing is over its capacity, and every flow crosses a full
// resource on which no other is faster.
TEST(FlowNetworkProperty, EveryFlowHasABottleneck) {
  constexpr int kSeed = 21;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    Crowd crowd = random_crowd(random);
    step(crowd.network);
    std::vector<double> used(crowd.capacities.size());
    std::vector<double> fastest(crowd.capacities.size());
    const auto rate = [&](std::size_t flow) { return crowd.network.rate(flow).in(kGBps); };
    for (std::size_t flow = 0; flow < crowd.paths.size(); ++flow) {
      for (const auto& it : crowd.paths[flow]) {
        used[it.resource] += it.share * rate(flow);
        fastest[it.resource] = std::max(fastest[it.resource], rate(flow));
      }
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      ASSERT_LE(used[i], crowd.capacities[i] * (1 + 1e-9));
    }
    for (std::size_t flow = 0; flow < crowd.paths.size(); ++flow) {
      const auto is_bottleneck = [&](const auto& it) {
        return used[it.resource] >= crowd.capacities[it.resource] * (1 - 1e-9) &&
               rate(flow) >= fastest[it.resource] * (1 - 1e-9);
      };
      const Path& path = crowd.paths[flow];
      ASSERT_TRUE(std::any_of(path.begin(), path.end(), is_bottleneck)) << "trial " << trial;
    }
  }
}

// Every flow ends once, and looking on in between changes nothing.
TEST(FlowNetworkProperty, StoppingInBetweenChangesNothing) {
  constexpr int kSeed = 22;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 100; ++trial) {
    Crowd straight = random_crowd(random);
    step(straight.network);
    FlowNetwork halting = straight.network;
    std::size_t ended = 0;
    while (ended < straight.paths.size()) {
      halting.advance(0.5 * (halting.now() + halting.next_change()));
      const Ids here = step(straight.network);
      ASSERT_EQ(step(halting), here);
      ASSERT_EQ(halting.now(), straight.network.now());
      ended += here.size();
    }
    ASSERT_EQ(straight.network.next_change(), kInfinite * kSecond);
  }
}

TEST(FlowNetworkDeath, RefusesWhatMakesNoSense) {
  FlowNetwork network;
  EXPECT_DEATH(network.add_resource({}), "capacity");
  const auto nic = network.add_resource(kGBps);
  EXPECT_DEATH(network.start(-1 * kMB, {}, network.add_route(Path{{nic}})), "bytes");
  EXPECT_DEATH(network.add_route(Path{{nic + 1}}), "resource");
  EXPECT_DEATH(network.start(kMB, {}, 7), "route");
  network.start(kMB, {}, network.add_route(Path{{nic}}));
  EXPECT_DEATH(network.advance(kSecond), "next_change");
}

}  // namespace
}  // namespace stint
