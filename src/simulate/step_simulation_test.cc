#include "simulate/step_simulation.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

#include "base/random.h"
#include "predict/step_fixture.h"

namespace stint {
namespace {

constexpr Collective kCollectives[] = {Collective::kRing, Collective::kHierarchical,
                                       Collective::kParameterServer, Collective::kTopK};

/// A setup of up to three groups in which all may differ.
StepSetup random_setup(Random& random, Collective collective) {
  const auto ms = [&](double high) { return random.uniform(0, high) * kMillisecond; };
  const auto any_link = [&](double ms_per_mb) {
    // One in eight costs nothing per byte.
    const double inverse = random.below(8) == 0 ? 0 : random.uniform(0, ms_per_mb);
    return link(inverse, random.uniform(0, 0.1));
  };
  StepSetup setup;
  for (int groups = 1 + random.below(3), i = 0; i < groups; ++i) {
    setup.groups.push_back({.vms = 1 + random.below(8),
                            .workers_per_vm = 1 + random.below(4),
                            .forward = ms(20),
                            .backward = ms(40),
                            .update = ms(3),
                            .input = ms(80),
                            .network = any_link(2),
                            .inside = any_link(0.5)});
  }
  for (int buckets = random.below(12), i = 0; i < buckets; ++i) {
    setup.buckets.push_back({.bytes = random.uniform(0, 20) * kMB, .ready = random.uniform()});
  }
  std::sort(setup.buckets.begin(), setup.buckets.end(),
            [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
  setup.collective = collective;
  setup.servers = 1 + random.below(6);
  setup.sparsification.selection = ms(1);
  setup.accumulation = 1 + random.below(4);
  setup.jitter = random.uniform(0, 0.1);
  setup.vm_spread = random.uniform(0, 0.1);
  setup.backward_slowdown = random.uniform(0, 0.3);
  return setup;
}

/// Gives all VMs the NIC and the number of workers of the first group, as servers contend
/// otherwise.
void make_equal(StepSetup& setup) {
  for (StepGroup& group : setup.groups) {
    group.workers_per_vm = setup.groups.front().workers_per_vm;
    group.network = setup.groups.front().network;
  }
}

/// The parts agree to 1e-9 of the whole.
void expect_same(const IterationParts& a, const IterationParts& b) {
  const double close = 1e-9 * total(b).in(kSecond);
  EXPECT_NEAR(a.forward.in(kSecond), b.forward.in(kSecond), close);
  EXPECT_NEAR(a.backward.in(kSecond), b.backward.in(kSecond), close);
  EXPECT_NEAR(a.exposed_communication.in(kSecond), b.exposed_communication.in(kSecond), close);
  EXPECT_NEAR(a.straggling.in(kSecond), b.straggling.in(kSecond), close);
  EXPECT_NEAR(a.input.in(kSecond), b.input.in(kSecond), close);
  EXPECT_NEAR(a.update.in(kSecond), b.update.in(kSecond), close);
}

double closed_form_ms(const StepSetup& setup) {
  return step_parts(setup).exposed_communication.in(kMillisecond);
}

double simulated_ms(const StepSetup& setup) {
  return simulate_step(setup).exposed_communication.in(kMillisecond);
}

TEST(StepSimulationProperty, EqualsTheClosedFormWithoutContention) {
  constexpr int kSeed = 31;
  for (const Collective collective : kCollectives) {
    Random random(kSeed);
    for (int trial = 0; trial < 200; ++trial) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial << ", collective "
                                      << static_cast<int>(collective));
      StepSetup setup = random_setup(random, collective);
      if (collective == Collective::kParameterServer) make_equal(setup);
      expect_same(simulate_step(setup), step_parts(setup));
      expect_same(simulate_step(setup, Detail::kEachVm), step_parts(setup));
      if (HasFailure()) return;
    }
  }
}

// Several in flight fill the link as one does when they do nothing but move bytes.
TEST(StepSimulationProperty, EqualsTheClosedFormForAnyNumberInFlightWithoutLatency) {
  constexpr int kSeed = 32;
  for (const Collective collective : {Collective::kRing, Collective::kTopK}) {
    Random random(kSeed);
    for (int trial = 0; trial < 200; ++trial) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial << ", collective "
                                      << static_cast<int>(collective));
      StepSetup setup = random_setup(random, collective);
      setup.sparsification.selection = {};
      setup.in_flight = 2 + random.below(3);
      for (StepGroup& group : setup.groups) {
        group.network.latency = {};
        group.inside.latency = {};
      }
      expect_same(simulate_step(setup), step_parts(setup));
      if (HasFailure()) return;
    }
  }
}

// With latencies, rings in flight side by side end when their flows do.
TEST(StepSimulationProperty, EqualsTheClosedFormForSeveralRingsInFlight) {
  constexpr int kSeed = 35;
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    StepSetup setup = random_setup(random, Collective::kRing);
    setup.in_flight = 2 + random.below(3);
    expect_same(simulate_step(setup), step_parts(setup));
    if (HasFailure()) return;
  }
}

// The closed form takes every VM for the fullest and every link for the slowest.
TEST(StepSimulationProperty, UnequalVmsAreNeverLaterThanTheClosedForm) {
  constexpr int kSeed = 33;
  Random random(kSeed);
  int earlier = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    StepSetup setup = random_setup(random, Collective::kParameterServer);
    const double closed_form = total(step_parts(setup)).in(kSecond);
    const double simulated = total(simulate_step(setup)).in(kSecond);
    ASSERT_LE(simulated, closed_form * (1 + 1e-9));
    if (simulated < closed_form * (1 - 1e-3)) ++earlier;
  }
  EXPECT_GT(earlier, 50);
}

TEST(StepSimulationProperty, OneVmStandsForItsGroupToTheSameEnd) {
  constexpr int kSeed = 34;
  for (const Collective collective : kCollectives) {
    Random random(kSeed);
    for (int trial = 0; trial < 100; ++trial) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial << ", collective "
                                      << static_cast<int>(collective));
      StepSetup setup = random_setup(random, collective);
      setup.in_flight = 1 + random.below(3);
      expect_same(simulate_step(setup), simulate_step(setup, Detail::kEachVm));
      if (HasFailure()) return;
    }
  }
}

TEST(StepSimulation, IgnoresTheSharpness) {
  StepSetup setup = plain_setup(2);
  const IterationParts parts = simulate_step(setup);
  setup.sharpness = 2;
  expect_same(simulate_step(setup), parts);
}

TEST(StepSimulation, OneWorkerOnlyComputes) {
  EXPECT_NEAR(total(simulate_step(plain_setup(1))).in(kMillisecond), 30, 1e-9);
}

/// Two VMs whose networks need so many milliseconds for a MB reduce 12 MB over a server.
StepSetup served_setup(std::array<double, 2> ms_per_mb) {
  StepSetup setup{.groups = {plain_group(1), plain_group(1)},
                  .buckets = {{.bytes = 12 * kMB, .ready = 1}},
                  .collective = Collective::kParameterServer};
  for (std::size_t i = 0; i < 2; ++i) setup.groups[i].network = link(ms_per_mb[i]);
  return setup;
}

// VM A sends at 1 GB/s, VM B at 0.25; the server, like A, takes 1 GB/s. B uses 0.25 of it and A the
// other 0.75: 12 MB take A 16 ms and B 48 ms. The server has all after 48, and gives back in 48.
// The closed form takes all NICs for the slowest: 2 · 2 · 12 MB · 4 ms/MB.
TEST(StepSimulation, ASlowVmLeavesTheServersNicToTheOthers) {
  const StepSetup setup = served_setup({1, 4});
  EXPECT_NEAR(simulated_ms(setup), 96, 1e-9);
  EXPECT_NEAR(closed_form_ms(setup), 192, 1e-9);
}

// With the slow VM first the server is as slow: 24 MB at 0.25 GB/s each way, which is what the
// closed form says.
TEST(StepSimulation, ASlowServerHoldsUpEverybody) {
  const StepSetup setup = served_setup({4, 1});
  EXPECT_NEAR(simulated_ms(setup), 192, 1e-9);
  EXPECT_NEAR(closed_form_ms(setup), 192, 1e-9);
}

// VM A holds three workers and VM B one, so 12 and 4 MB go to the one server. Half its NIC each:
// B is done after 8 ms, A's other 8 MB take 8 more. 16 ms each way. The closed form takes both VMs
// for full ones: 2 · 2 · 12.
TEST(StepSimulation, VmsOfUnequalSizeSendUnequally) {
  StepSetup setup = plain_setup(1, 3);
  setup.groups.push_back(plain_group(1, 1));
  setup.collective = Collective::kParameterServer;
  setup.buckets = {{.bytes = 4 * kMB, .ready = 1}};
  EXPECT_NEAR(simulated_ms(setup), 32, 1e-9);
  EXPECT_NEAR(closed_form_ms(setup), 48, 1e-9);
}

// Two VMs, one server. One in flight: each bucket takes 20 ms up and 20 down, 20–60–100. Two in
// flight: the first pushes alone 20–30 and with the second 30–50; the second is up at 60. The
// first pulls alone 50–60 and with the second 60–80; the second is down at 90. Compute ends at 30.
TEST(StepSimulation, PushesMeetNoPulls) {
  StepSetup setup = plain_setup(2);
  setup.collective = Collective::kParameterServer;
  EXPECT_NEAR(simulated_ms(setup), 70, 1e-9);
  setup.in_flight = 2;
  EXPECT_NEAR(simulated_ms(setup), 60, 1e-9);
  EXPECT_NEAR(closed_form_ms(setup), 70, 1e-9);
}

// Two VMs, 10 ms of latency and 10 of bytes per bucket. One in flight: 20–40–60. Two in flight: the
// first moves 30–40 while the latency of the second passes, which moves 40–50.
TEST(StepSimulation, LatencyPassesWhileAnotherBucketMoves) {
  StepSetup setup = plain_setup(2);
  setup.groups[0].network = link(1, 5);
  EXPECT_NEAR(simulated_ms(setup), 30, 1e-9);
  setup.in_flight = 2;
  EXPECT_NEAR(simulated_ms(setup), 20, 1e-9);
}

// Two VMs of two: 5 ms in, 10 between, 5 out per bucket. One in flight: 20–40–60. Two in flight:
// the first is between 25–35; the second, inside 30–35 alone, is between 35–45 while the first is
// gathered, and gathered 45–50.
TEST(StepSimulation, AHierarchyWorksInsideAndBetweenAtOnce) {
  StepSetup setup = plain_setup(2, 2);
  setup.collective = Collective::kHierarchical;
  setup.groups[0].inside = link(1);
  EXPECT_NEAR(simulated_ms(setup), 30, 1e-9);
  setup.in_flight = 2;
  EXPECT_NEAR(simulated_ms(setup), 20, 1e-9);
}

}  // namespace
}  // namespace stint
