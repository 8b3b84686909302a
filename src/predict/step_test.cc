#include "predict/step.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "predict/overlap.h"
#include "predict/step_fixture.h"

namespace stint {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double total_ms(const StepSetup& setup) { return total(step_parts(setup)).in(kMillisecond); }

double exposed_ms(const StepSetup& setup) {
  return step_parts(setup).exposed_communication.in(kMillisecond);
}

/// A setup of one or two groups in which everything may differ.
StepSetup random_setup(Random& random) {
  const auto ms = [&](double high) { return random.uniform(0, high) * kMillisecond; };
  StepSetup setup;
  const int groups = 1 + random.below(2);
  for (int i = 0; i < groups; ++i) {
    setup.groups.push_back({.vms = 1 + random.below(8),
                            .workers_per_vm = 1 + random.below(4),
                            .forward = ms(20),
                            .backward = ms(40),
                            .update = ms(3),
                            .input = ms(80),
                            .network = link(random.uniform(0, 2), random.uniform(0, 0.1)),
                            .inside = link(random.uniform(0, 0.5), random.uniform(0, 0.1))});
  }
  for (int count = random.below(12), i = 0; i < count; ++i) {
    setup.buckets.push_back({.bytes = random.uniform(0, 20) * kMB, .ready = random.uniform()});
  }
  std::sort(setup.buckets.begin(), setup.buckets.end(),
            [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
  setup.collective = static_cast<Collective>(random.below(4));
  setup.servers = 1 + random.below(4);
  setup.sparsification.selection = ms(1);
  setup.accumulation = 1 + random.below(4);
  setup.jitter = random.uniform(0, 0.1);
  setup.vm_spread = random.uniform(0, 0.1);
  setup.backward_slowdown = random.uniform(0, 0.3);
  setup.sharpness = random.below(2) == 0 ? kInfinite : random.uniform(1, 10);
  return setup;
}

/// Runs `body` on a few hundred random setups.
template <class Body>
void for_random_setups(const Body& body) {
  constexpr int kSeed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    body(random_setup(random));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// 10 + 20 + 3 of update; one worker sends nothing, straggles behind nobody and is not slowed.
TEST(Step, OneWorkerOnlyComputes) {
  StepSetup setup = plain_setup(1);
  setup.groups[0].update = 3 * kMillisecond;
  setup.jitter = 0.1;
  setup.vm_spread = 0.1;
  setup.backward_slowdown = 0.5;
  setup.sharpness = 2;
  const IterationParts parts = step_parts(setup);
  EXPECT_NEAR(parts.forward.in(kMillisecond), 10, 1e-9);
  EXPECT_NEAR(parts.backward.in(kMillisecond), 20, 1e-9);
  EXPECT_NEAR(parts.update.in(kMillisecond), 3, 1e-9);
  EXPECT_NEAR(total(parts).in(kMillisecond), 33, 1e-9);
  EXPECT_EQ(bucket_time(kGB, setup), Seconds{});
}

TEST(Step, CountsVmsAndWorkersOverGroups) {
  StepSetup setup = plain_setup(3, 4);
  setup.groups.push_back(plain_group(2, 1));
  EXPECT_EQ(vms(setup), 5);
  EXPECT_EQ(workers(setup), 14);
}

// Two VMs send 2 · 1/2 · 10 MB = 10 ms per bucket. From the start of backward: ready at 10, sent by
// 20; ready at 20, sent by 30; 10 are exposed.
TEST(Step, TwoVmsExposeTheBucketThatIsReadyLast) {
  EXPECT_NEAR(bucket_time(10 * kMB, plain_setup(2)).in(kMillisecond), 10, 1e-9);
  EXPECT_NEAR(exposed_ms(plain_setup(2)), 10, 1e-9);
  EXPECT_NEAR(total_ms(plain_setup(2)), 40, 1e-9);
}

// At 0.5 GB/s: 10–30, 30–50; 30 are exposed.
TEST(Step, ABucketQueuesBehindTheOneBefore) {
  StepSetup setup = plain_setup(2);
  setup.groups[0].network = link(2);
  EXPECT_NEAR(exposed_ms(setup), 30, 1e-9);
}

// Four workers in one VM ring over the link inside: 2 · 3/4 · 10 MB · 0.1 ms/MB = 1.5 ms.
TEST(Step, OneVmReducesInside) {
  EXPECT_NEAR(bucket_time(10 * kMB, plain_setup(1, 4)).in(kMillisecond), 1.5, 1e-9);
  EXPECT_NEAR(exposed_ms(plain_setup(1, 4)), 1.5, 1e-9);
}

// Backward takes 1.5 · 20 = 30 ms, so the first bucket is ready at 15; 10 are exposed as before.
TEST(Step, BackwardSlowsWhileGradientsLeave) {
  StepSetup setup = plain_setup(2);
  setup.backward_slowdown = 0.5;
  EXPECT_NEAR(step_parts(setup).backward.in(kMillisecond), 30, 1e-9);
  EXPECT_NEAR(total_ms(setup), 50, 1e-9);
}

// Three micro-steps: 3 · 30 ms, and only the last backward is slowed, by 10; then 10 exposed once.
TEST(Step, AccumulationCommunicatesOnce) {
  StepSetup setup = plain_setup(2);
  setup.accumulation = 3;
  EXPECT_NEAR(total_ms(setup), 3 * 30 + 10, 1e-9);
  setup.backward_slowdown = 0.5;
  const IterationParts parts = step_parts(setup);
  EXPECT_NEAR(parts.forward.in(kMillisecond), 30, 1e-9);
  EXPECT_NEAR(parts.backward.in(kMillisecond), 70, 1e-9);
  EXPECT_NEAR(total(parts).in(kMillisecond), 110, 1e-9);
}

// 4 VMs of 2 workers on 2 servers: a VM sends 20 MB, a server takes 4 · 10 MB: 40 ms each way.
// Ready at 10 and done at 90, then done at 170; backward ends at 20.
TEST(Step, ParameterServersTakeFromEveryVm) {
  StepSetup setup = plain_setup(4, 2);
  setup.collective = Collective::kParameterServer;
  setup.servers = 2;
  EXPECT_NEAR(bucket_time(10 * kMB, setup).in(kMillisecond), 80, 1e-9);
  EXPECT_NEAR(exposed_ms(setup), 150, 1e-9);
}

// 4 workers: 3 · 0.1 · 10 MB · (1 + 1) = 6 ms and 3 · 1 ms of latency, after 2 ms of selection.
TEST(Step, TopKGathersFromEveryWorker) {
  StepSetup setup = plain_setup(2, 2);
  setup.collective = Collective::kTopK;
  setup.sparsification = {
      .density = 0.1, .index_bytes_per_value = 1, .selection = 2 * kMillisecond};
  setup.groups[0].network = link(1, 1);
  EXPECT_NEAR(bucket_time(10 * kMB, setup).in(kMillisecond), 11, 1e-9);
  EXPECT_NEAR(exposed_ms(setup), 12, 1e-9);  // 10–21, 21–32; backward ends at 20.
}

// Inside 2 · 3/4 · 10 MB · 0.1 = 1.5 ms, between 2 · 1/2 · 10 MB = 10 ms.
TEST(Step, HierarchicalReducesInsideThenBetween) {
  StepSetup setup = plain_setup(2, 4);
  setup.collective = Collective::kHierarchical;
  EXPECT_NEAR(bucket_time(10 * kMB, setup).in(kMillisecond), 11.5, 1e-9);
  EXPECT_NEAR(exposed_ms(setup), 13, 1e-9);  // 10–21.5, 21.5–33; backward ends at 20.
}

// A VM of one worker reduces nothing inside, however slow it would be there; 1.5 + 10 as above.
TEST(Step, AVmOfOneWorkerHasNoInsideToWaitFor) {
  StepSetup setup = plain_setup(1, 4);
  setup.groups.push_back(plain_group(1, 1));
  setup.groups[1].inside = link(100, 100);
  setup.collective = Collective::kHierarchical;
  EXPECT_NEAR(bucket_time(10 * kMB, setup).in(kMillisecond), 11.5, 1e-9);
}

// The second group is slower everywhere: 15 + 25, and 2 · 2/3 · 9 MB · 2 ms/MB = 24 ms per bucket.
// From the start: ready at 27.5, sent by 51.5 and by 75.5; 35.5 after compute.
TEST(Step, AMixedClusterIsAsFastAsItsSlowestPart) {
  StepSetup setup = plain_setup(2);
  setup.groups.push_back({.vms = 1,
                          .forward = 15 * kMillisecond,
                          .backward = 25 * kMillisecond,
                          .update = 2 * kMillisecond,
                          .network = link(2)});
  setup.groups[0].update = 3 * kMillisecond;
  for (Bucket& bucket : setup.buckets) bucket.bytes = 9 * kMB;
  const IterationParts parts = step_parts(setup);
  EXPECT_NEAR(parts.forward.in(kMillisecond), 15, 1e-9);
  EXPECT_NEAR(parts.backward.in(kMillisecond), 25, 1e-9);
  EXPECT_NEAR(parts.exposed_communication.in(kMillisecond), 35.5, 1e-9);
  EXPECT_NEAR(parts.update.in(kMillisecond), 3, 1e-9);
}

// The first group computes longest (10 + 20), but the second (25 + 4) is later with the first
// bucket: at 27, not at 20. Sent by 37 and by 47; 17 after compute.
TEST(Step, ABucketWaitsForTheGroupThatHasItLast) {
  StepSetup setup = plain_setup(1);
  setup.groups.push_back(plain_group(1));
  setup.groups[1].forward = 25 * kMillisecond;
  setup.groups[1].backward = 4 * kMillisecond;
  EXPECT_NEAR(exposed_ms(setup), 17, 1e-9);
  EXPECT_NEAR(step_parts(setup).forward.in(kMillisecond), 10, 1e-9);
  std::swap(setup.groups[0], setup.groups[1]);
  EXPECT_NEAR(exposed_ms(setup), 17, 1e-9);
}

// An iteration of 40 ms whose input takes 2 · 25 ms waits for 10; one whose input takes 2 · 15 ms
// does not wait.
TEST(Step, WaitsForInputOnlyBeyondTheRest) {
  StepSetup setup = plain_setup(2);
  setup.groups[0].forward = 2.5 * kMillisecond;
  setup.groups[0].backward = 10 * kMillisecond;
  setup.accumulation = 2;  // 5 + 20 of compute; ready at 20 and 25, sent by 30 and 40.
  setup.groups[0].input = 25 * kMillisecond;
  const IterationParts parts = step_parts(setup);
  EXPECT_NEAR(parts.input.in(kMillisecond), 10, 1e-9);
  EXPECT_NEAR(total(parts).in(kMillisecond), 50, 1e-9);
  setup.groups[0].input = 15 * kMillisecond;
  EXPECT_EQ(step_parts(setup).input, Seconds{});
}

// m(2) = 1/√π = 0.56419. Two VMs of one worker: √(0.3² + 0.4²) · m(2) = 0.5 · m(2), of 30 ms.
TEST(Step, TheSlowestWorkerDecides) {
  StepSetup setup = plain_setup(2);
  setup.vm_spread = 0.3;
  setup.jitter = 0.4;
  EXPECT_NEAR(straggling(setup), 0.282095, 1e-6);
  EXPECT_NEAR(step_parts(setup).straggling.in(kMillisecond), 8.46285, 1e-5);
  EXPECT_NEAR(exposed_ms(setup), 10, 1e-9);  // The last bucket still starts when compute ends.
  // In one VM only the jitter counts; m(4) = 1.02938.
  StepSetup one = plain_setup(1, 4);
  one.vm_spread = 0.3;
  one.jitter = 0.4;
  EXPECT_NEAR(straggling(one), 0.4 * 1.02938, 1e-5);
}

// Beyond the counts that are remembered the answer goes on smoothly.
TEST(Step, StragglesOnLargeClustersAsWell) {
  StepSetup setup = plain_setup(512);
  setup.vm_spread = 1;
  const double before = straggling(setup);
  setup.groups[0].vms = 513;
  EXPECT_GT(straggling(setup), before);
  EXPECT_NEAR(straggling(setup), before, 1e-3);
}

// From the first bucket on, 10 ms of backward beside 20 ms of communication: √(10² + 20²) = 22.36,
// 12.36 of it exposed, more than the 10 of the plain maximum.
TEST(Step, TheSoftMaximumLiesAboveTheMaximum) {
  StepSetup setup = plain_setup(2);
  setup.sharpness = 2;
  EXPECT_NEAR(exposed_ms(setup), 12.3607, 1e-4);
}

// A link that costs nothing exposes nothing, whatever the sharpness.
TEST(Step, FreeCommunicationExposesNothing) {
  StepSetup setup = plain_setup(2);
  setup.groups[0].network = {};
  setup.sharpness = 1;
  EXPECT_EQ(step_parts(setup).exposed_communication, Seconds{});
}

TEST(Step, WithoutBucketsNothingIsSent) {
  StepSetup setup = plain_setup(2);
  setup.buckets.clear();
  setup.backward_slowdown = 0.5;
  EXPECT_NEAR(total_ms(setup), 30, 1e-9);
}

TEST(StepProperty, NoPartIsNegative) {
  for_random_setups([](const StepSetup& setup) {
    const IterationParts parts = step_parts(setup);
    for (const Seconds part : {parts.forward, parts.backward, parts.exposed_communication,
                               parts.straggling, parts.input, parts.update}) {
      ASSERT_GE(part, Seconds{});
    }
  });
}

TEST(StepProperty, MoreBytesOrSlowerLinksNeverHelp) {
  constexpr double kRounding = 1 + 1e-12;
  for_random_setups([](const StepSetup& setup) {
    const double before = total_ms(setup);
    StepSetup more = setup;
    for (Bucket& bucket : more.buckets) bucket.bytes = 1.5 * bucket.bytes;
    ASSERT_GE(total_ms(more) * kRounding, before);
    StepSetup slow = setup;
    for (StepGroup& group : slow.groups) {
      group.network.inverse_bandwidth = 1.5 * group.network.inverse_bandwidth;
      group.inside.inverse_bandwidth = 1.5 * group.inside.inverse_bandwidth;
    }
    ASSERT_GE(total_ms(slow) * kRounding, before);
  });
}

TEST(StepProperty, ASharperMaximumIsLowerAndTendsToTheMaximum) {
  for_random_setups([](StepSetup setup) {
    setup.sharpness = kInfinite;
    const double limit = total_ms(setup);
    double above = kInfinite;
    for (const double sharpness : {1.0, 2.0, 5.0, 20.0, 1e6}) {
      setup.sharpness = sharpness;
      const double time = total_ms(setup);
      ASSERT_LE(time, above * (1 + 1e-12));
      ASSERT_GE(time * (1 + 1e-12), limit);
      above = time;
    }
    ASSERT_NEAR(above, limit, 1e-5 * limit);
  });
}

// overlap.h follows each bucket, with its latency apart where several rings are in flight.
TEST(StepProperty, ExposesWhatIsLeftOfTheLastArrival) {
  for_random_setups([](StepSetup setup) {
    setup.groups.resize(1);
    setup.sharpness = kInfinite;
    const double slowdown = 1 + setup.backward_slowdown;
    const Seconds backward = (1 + straggling(setup)) * slowdown * setup.groups[0].backward;
    const Seconds latency = bucket_time({}, setup);
    std::vector<BucketTiming> timings;
    for (const Bucket& bucket : setup.buckets) {
      timings.push_back({.ready = bucket.ready * backward,
                         .communication = bucket_time(bucket.bytes, setup) - latency,
                         .latency = latency});
    }
    if (workers(setup) == 1) return;
    for (const int in_flight : {1, 2, 4}) {
      setup.in_flight = in_flight;
      const bool ring = setup.collective == Collective::kRing;
      const Seconds exposed = exposed_communication(timings, ring ? in_flight : 1, backward);
      ASSERT_NEAR(exposed_ms(setup), exposed.in(kMillisecond), 1e-6);
    }
  });
}

TEST(StepProperty, TheOrderOfGroupsDoesNotMatter) {
  for_random_setups([](StepSetup setup) {
    const double before = total_ms(setup);
    std::reverse(setup.groups.begin(), setup.groups.end());
    ASSERT_NEAR(total_ms(setup), before, 1e-12 * before);
  });
}

}  // namespace
}  // namespace stint
