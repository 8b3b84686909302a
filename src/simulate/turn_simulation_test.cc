#include "simulate/turn_simulation.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "base/random.h"
#include "simulate/step_simulation.h"

namespace stint {
namespace {

constexpr TurnOrder kOrders[] = {TurnOrder::kRhythm, TurnOrder::kFirstCome, TurnOrder::kSlices};

/// A job on two VMs of 1 GB/s, so that a bucket of b MB takes b ms: computes for `compute` ms, a
/// third of that forward, and sends one bucket of `sync` MB that is ready at the end.
StepSetup plain(double compute_ms, double sync_ms, double update_ms = 0) {
  return {.groups = {{.vms = 2,
                      .workers_per_vm = 1,
                      .forward = compute_ms / 3 * kMillisecond,
                      .backward = compute_ms * 2 / 3 * kMillisecond,
                      .update = update_ms * kMillisecond,
                      .network = {.inverse_bandwidth = 1 * kMillisecond / kMB, .latency = {}}}},
          .buckets = {{.bytes = sync_ms * kMB, .ready = 1}}};
}

TurnTimes times_of(const StepSetup& setup) {
  const StepGroup& group = setup.groups.front();
  return {.compute = group.forward + group.backward,
          .sync = bucket_time(setup.buckets.front().bytes, setup),
          .rest = group.update};
}

std::vector<SharedStepJob> jobs_of(const std::vector<StepSetup>& setups, int iterations = 1) {
  std::vector<SharedStepJob> jobs;
  for (const StepSetup& setup : setups) jobs.push_back({.setup = setup, .iterations = iterations});
  return jobs;
}

double makespan_ms(const std::vector<SharedStepJob>& jobs, const TurnTerms& terms) {
  return simulate_sharing(jobs, terms).makespan().in(kMillisecond);
}

double iteration_ms(const std::vector<SharedStepJob>& jobs, const TurnTerms& terms,
                    std::size_t index = 0) {
  return shared_iteration_times(jobs, terms)[index].in(kMillisecond);
}

/// A setup of up to three groups on which jobs may differ in all but VMs and workers.
StepSetup random_setup(Random& random, const std::vector<std::pair<int, int>>& groups,
                       Collective collective) {
  const auto ms = [&](double high) { return random.uniform(0, high) * kMillisecond; };
  const auto link = [&](double ms_per_mb) {
    return Link{.inverse_bandwidth = random.uniform(0, ms_per_mb) * kMillisecond / kMB,
                .latency = ms(0.1)};
  };
  StepSetup setup;
  for (const auto& [vms, workers_per_vm] : groups) {
    setup.groups.push_back({.vms = vms,
                            .workers_per_vm = workers_per_vm,
                            .forward = ms(20) + 1 * kMillisecond,
                            .backward = ms(40) + 1 * kMillisecond,
                            .update = ms(3),
                            .input = ms(80),
                            .network = link(2),
                            .inside = link(0.5)});
  }
  for (int buckets = random.below(6), i = 0; i < buckets; ++i) {
    setup.buckets.push_back({.bytes = random.uniform(0, 20) * kMB, .ready = random.uniform()});
  }
  std::sort(setup.buckets.begin(), setup.buckets.end(),
            [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
  setup.collective = collective;
  setup.servers = 1 + random.below(6);
  setup.accumulation = 1 + random.below(4);
  setup.in_flight = 1 + random.below(3);
  setup.jitter = random.uniform(0, 0.1);
  setup.backward_slowdown = random.uniform(0, 0.3);
  return setup;
}

std::vector<std::pair<int, int>> random_groups(Random& random) {
  std::vector<std::pair<int, int>> groups;
  for (int count = 1 + random.below(3), i = 0; i < count; ++i) {
    groups.emplace_back(1 + random.below(4), 1 + random.below(3));
  }
  return groups;
}

TEST(TurnSimulationProperty, AJobByItselfTakesWhatOneIterationTakes) {
  constexpr int kSeed = 81;
  constexpr int kIterations = 5;
  for (const Collective collective : {Collective::kRing, Collective::kHierarchical,
                                      Collective::kParameterServer, Collective::kTopK}) {
    Random random(kSeed);
    for (int trial = 0; trial < 60; ++trial) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial << ", collective "
                                      << static_cast<int>(collective));
      const StepSetup setup = random_setup(random, random_groups(random), collective);
      for (const TurnOrder order : kOrders) {
        const TurnTerms terms{.order = order, .overlap = true, .pieces = 1 + random.below(3)};
        const double played = makespan_ms(jobs_of({setup}, kIterations), terms);
        // The last iteration does not wait for the data of another.
        IterationParts parts = simulate_step(setup);
        const Seconds whole = total(parts);
        parts.input = {};
        const Seconds expected = (kIterations - 1) * whole + total(parts);
        ASSERT_NEAR(played, expected.in(kMillisecond), 1e-6);
      }
    }
  }
}

// Accelerator and network each serve one job at a time: the formula is exact.
TEST(TurnSimulationProperty, EqualsThePeriodOnANetworkThatServesOneByOne) {
  constexpr int kSeed = 82;
  Random random(kSeed);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    std::vector<StepSetup> setups;
    std::vector<TurnTimes> times;
    const int count = 1 + random.below(4);
    for (int i = 0; i < count; ++i) {
      const double update = count <= 2 ? random.uniform(0, 10) : 0;
      setups.push_back(plain(random.uniform(1, 50), random.uniform(1, 50), update));
      times.push_back(times_of(setups.back()));
    }
    const TurnTerms terms{.sharing = LinkSharing::kFirstCome};
    ASSERT_NEAR(iteration_ms(jobs_of(setups), terms), shared_period(times).in(kMillisecond),
                1e-6 * shared_period(times).in(kMillisecond));
  }
}

TEST(TurnSimulationProperty, IsNeverBelowThePeriod) {
  constexpr int kSeed = 83;
  Random random(kSeed);
  int above = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    std::vector<StepSetup> setups;
    std::vector<TurnTimes> times;
    for (int count = 1 + random.below(4), i = 0; i < count; ++i) {
      // One draw a statement: the order of arguments is the compiler's choice.
      const double update = random.uniform(0, 10);
      const double communication = random.uniform(1, 50);
      const double compute = random.uniform(1, 50);
      setups.push_back(plain(compute, communication, update));
      times.push_back(times_of(setups.back()));
    }
    // Finer turns let communication start no sooner, since the one bucket is ready at the end.
    const TurnTerms terms{.order = kOrders[random.below(2)], .pieces = 1 + random.below(2)};
    const auto iterations = shared_iteration_times(jobs_of(setups), terms);
    const double period = shared_period(times).in(kMillisecond);
    if (terms.order == TurnOrder::kRhythm) {
      // Jobs that find their rhythm slowly have not quite found it after the warm-up.
      ASSERT_GE(iterations[0].in(kMillisecond), period * (1 - 1e-3));
      if (iterations[0].in(kMillisecond) > 1.01 * period) ++above;
    }
    // In any order accelerator and network have no more than their time.
    double computing = 0;
    double sending = 0;
    for (std::size_t i = 0; i < setups.size(); ++i) {
      ASSERT_GE(iterations[i], serial_time(times[i]) * (1 - 1e-9));
      computing += times[i].compute / iterations[i];
      sending += times[i].sync / iterations[i];
    }
    ASSERT_LE(computing, 1.02);
    ASSERT_LE(sending, 1.02);
  }
  EXPECT_GT(above, 10);  // A shared network does not always reach it.
}

TEST(TurnSimulationProperty, RoundsOfARhythmAreNeverBelowTheirBound) {
  constexpr int kSeed = 84;
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    const StepSetup often =
        plain(random.uniform(1, 30), random.uniform(1, 30), random.uniform(0, 5));
    const StepSetup seldom =
        plain(random.uniform(1, 90), random.uniform(1, 90), random.uniform(0, 5));
    const int turns = 1 + random.below(4);
    for (const LinkSharing sharing :
         {LinkSharing::kFirstCome, LinkSharing::kFair, LinkSharing::kWindows}) {
      const std::vector<SharedStepJob> jobs{{.setup = often, .turns = turns}, {.setup = seldom}};
      const auto iterations = shared_iteration_times(jobs, {.sharing = sharing});
      const Seconds bound = rhythm_bound(times_of(often), times_of(seldom), turns, sharing);
      ASSERT_GE(iterations[1], bound * (1 - 1e-9));
      // With windows a round may repeat after several rounds only.
      const double least = sharing == LinkSharing::kWindows ? 1e-3 : 1e-6;
      ASSERT_NEAR(turns * iterations[0].in(kSecond), iterations[1].in(kSecond),
                  least * iterations[1].in(kSecond));
    }
  }
}

// N iterations of two equal jobs take 2 N max(C, S), and a first and a last turn on top.
TEST(TurnSimulationProperty, EqualJobsWithoutOverlapReachTheBound) {
  constexpr int kIterations = 30;
  for (const double ratio : {0.25, 0.5, 1.0, 1.5, 2.0}) {
    SCOPED_TRACE(testing::Message() << "communication / compute " << ratio);
    const double compute = 100;
    const double sync = ratio * compute;
    const StepSetup setup = plain(compute, sync);
    const double bound = 2 * kIterations * std::max(compute, sync);
    for (const LinkSharing sharing :
         {LinkSharing::kFirstCome, LinkSharing::kFair, LinkSharing::kWindows}) {
      const double makespan =
          makespan_ms(jobs_of({setup, setup}, kIterations), {.sharing = sharing});
      EXPECT_GE(makespan, bound);
      EXPECT_LE(makespan, bound + std::min(compute, sync) + 1e-6);
    }
  }
}

TEST(TurnSimulationProperty, TheSameRunTwiceIsTheSame) {
  constexpr int kSeed = 85;
  Random random(kSeed);
  for (int trial = 0; trial < 20; ++trial) {
    const auto groups = random_groups(random);
    std::vector<StepSetup> setups;
    for (int i = 0; i < 3; ++i) setups.push_back(random_setup(random, groups, Collective::kRing));
    for (const TurnOrder order : kOrders) {
      const TurnTerms terms{.order = order, .overlap = true, .compute_slowdown = 0.1};
      const auto jobs = jobs_of(setups, 10);
      EXPECT_EQ(simulate_sharing(jobs, terms).ends, simulate_sharing(jobs, terms).ends);
    }
  }
}

// Sharing the network evenly, A of 10 + 30 and B of 20 + 10 ms do not reach the bound of 40: B
// begins to send at 30, when A has 10 left, and both end at 50. Then A computes 50–60 and B 60–80;
// A sends 60–80 alone, and both again until 100: a round of 50 ms.
TEST(TurnSimulation, EvenSharingOfTheNetworkDelaysALongReduction) {
  const auto jobs = jobs_of({plain(10, 30), plain(20, 10)});
  EXPECT_NEAR(iteration_ms(jobs, {}), 50, 1e-6);
  EXPECT_NEAR(iteration_ms(jobs, {.sharing = LinkSharing::kFirstCome}), 40, 1e-6);
}

// 3 MiB over two workers are four segments (two for each worker), 5 MiB six (five of 1 MiB would
// not be the same for both), 3 MiB over four workers eight (two each), and 9 MiB twelve.
TEST(RingSegment, IsAtMostAMebibyteAndHalfOfAWorkersPart) {
  EXPECT_NEAR(ring_segment(3 * kMiB, 2) / kMiB, 3.0 / 4, 1e-12);
  EXPECT_NEAR(ring_segment(5 * kMiB, 2) / kMiB, 5.0 / 6, 1e-12);
  EXPECT_NEAR(ring_segment(3 * kMiB, 4) / kMiB, 3.0 / 8, 1e-12);
  EXPECT_NEAR(ring_segment(9 * kMiB, 4) / kMiB, 9.0 / 12, 1e-12);
}

// A computes 0–1 ms and B 1–2 ms. A has sent 1 of its 2 MB when B begins with 4 MB. Both have four
// segments, of 0.5 and 1 MB, so that B has two thirds of the network: A sends its other MB in 3 ms,
// until 5 ms; B has 2 MB left then and ends at 7 ms. With equal rates A would end at 4 ms.
TEST(TurnSimulation, LongerSegmentsHaveMoreOfTheNetwork) {
  const auto jobs = jobs_of({plain(1, 2), plain(1, 4)});
  const auto ends = [&](LinkSharing sharing) {
    const SharedRun run = simulate_sharing(jobs, {.sharing = sharing});
    return std::pair(run.ends[0][0].in(kMillisecond), run.ends[1][0].in(kMillisecond));
  };
  EXPECT_NEAR(ends(LinkSharing::kWindows).first, 5, 1e-6);
  EXPECT_NEAR(ends(LinkSharing::kWindows).second, 7, 1e-6);
  EXPECT_NEAR(ends(LinkSharing::kFair).first, 4, 1e-6);
}

// 3.5 and 4 MB over two workers are four segments each of 0.875 and 1 MB: nearly equal rates,
// though B sends more. A computes 0–1 ms and has 2.5 MB left at 2 ms, when B begins. A has 7/15 of
// the network and ends 2.5 · 15/7 ms later.
TEST(TurnSimulation, WhoSendsFirstHasNoMoreOfTheNetwork) {
  const SharedRun run =
      simulate_sharing(jobs_of({plain(1, 3.5), plain(1, 4)}), {.sharing = LinkSharing::kWindows});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 2 + 2.5 * 15 / 7, 1e-6);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 8.5, 1e-6);  // 7.5 MB after 1 ms.
}

// 30 ms of computing each in slices of 2 ms: A has its 15th slice at 56–58, B at 58–60. Then A
// sends alone 58–60, both until both have sent 20 (A has 18 left at 60, and B 20: A ends at 96, B
// at 98).
TEST(TurnSimulation, SlicesMakeEverybodyWaitForEverybody) {
  const SharedRun run =
      simulate_sharing(jobs_of({plain(30, 20), plain(30, 20)}), {.order = TurnOrder::kSlices});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 96, 1e-6);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 98, 1e-6);
}

// Who computes freely finds no rhythm: jobs stay as far apart as they began. Of 30 + 20 ms each, B
// begins d later than A. Then A has each phase alone for d, both share it, and B has it alone for
// d: a round takes 2 (30 + 20) − 2 d. Slices move them apart by one slice in a round at most.
TEST(TurnSimulation, SharingFreelyKeepsJobsAsFarApartAsTheyBegan) {
  for (const double apart : {0.0, 4.0, 10.0, 20.0}) {
    std::vector<SharedStepJob> jobs = jobs_of({plain(30, 20), plain(30, 20)});
    jobs[1].start = apart * kMillisecond;
    const TurnTerms terms{.order = TurnOrder::kSlices, .slice = 0.02 * kMillisecond};
    EXPECT_NEAR(iteration_ms(jobs, terms), 100 - 2 * apart, 2 * 64 * 0.02);
  }
}

// By turns: A computes until 30, B until 60; A has sent at 50 and B at 80.
TEST(TurnSimulation, TurnsLetOneSendWhileTheOtherComputes) {
  const SharedRun run = simulate_sharing(jobs_of({plain(30, 20), plain(30, 20)}), {});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 50, 1e-6);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 80, 1e-6);
}

// Two buckets of 10 MB, ready at half and at the end of 20 ms of backward; forward is 10 ms. With
// overlap A sends 20–30 and 30–40, B computes 30–60 and sends 50–60 and 60–70. Held back until all
// is ready, A sends 30–50 and B 60–80.
TEST(TurnSimulation, BucketsLeaveEarlyOnlyWithOverlap) {
  StepSetup setup = plain(30, 20);
  setup.buckets = {{.bytes = 10 * kMB, .ready = 0.5}, {.bytes = 10 * kMB, .ready = 1}};
  const auto jobs = jobs_of({setup, setup});
  EXPECT_NEAR(makespan_ms(jobs, {.overlap = true}), 70, 1e-6);
  EXPECT_NEAR(makespan_ms(jobs, {.overlap = false}), 80, 1e-6);
}

// A sends 30 MB from 10 on, and has 15 left at 25, when B's two buckets of 10 MB are ready. Both in
// flight: a third of the network each until B's have arrived at 55; A has 5 left and ends at 60.
// One in flight: half each. B's first arrives at 45, A's at 55, and B's other 5 MB at 60.
TEST(TurnSimulation, SeveralBucketsInFlightTakeALargerShare) {
  StepSetup other = plain(15, 20);
  other.buckets = {{.bytes = 10 * kMB, .ready = 1}, {.bytes = 10 * kMB, .ready = 1}};
  other.in_flight = 2;
  SharedRun run = simulate_sharing(jobs_of({plain(10, 30), other}), {});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 60, 1e-6);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 55, 1e-6);
  other.in_flight = 1;
  run = simulate_sharing(jobs_of({plain(10, 30), other}), {});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 55, 1e-6);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 60, 1e-6);
}

// A sends 30–50. B computes from 30: until 50 it does 20 / 1.25 = 16 of its 30, and 14 more until
// 64; then it sends until 84.
TEST(TurnSimulation, ComputingIsSlowerWhileAnotherJobCommunicates) {
  const SharedRun run =
      simulate_sharing(jobs_of({plain(30, 20), plain(30, 20)}), {.compute_slowdown = 0.25});
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 84, 1e-6);
}

// Handing over takes 1 ms: B computes 31–61, sends until 81.
TEST(TurnSimulation, HandingOverTakesTime) {
  const auto jobs = jobs_of({plain(30, 20), plain(30, 20)});
  EXPECT_NEAR(makespan_ms(jobs, {.hand_over = 1 * kMillisecond}), 81, 1e-6);
}

// Two turns for an iteration: A 0–15, B 15–30, A 30–45, B 45–60. A sends alone 45–60 and has 5
// left, for which it takes until 70 beside B; then B's other 15 alone until 85.
TEST(TurnSimulation, FinerTurnsAlternateWithinAnIteration) {
  const SharedRun run = simulate_sharing(jobs_of({plain(30, 20), plain(30, 20)}), {.pieces = 2});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 70, 1e-6);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 85, 1e-6);
}

// A job that is done leaves the accelerator to the other: A computes 0–30 and is done at 50, B
// computes 30–60, sends until 80, then has its second iteration alone: 80–130.
TEST(TurnSimulation, TheOtherGoesOnAloneWhenOneIsDone) {
  std::vector<SharedStepJob> jobs = jobs_of({plain(30, 20), plain(30, 20)});
  jobs[1].iterations = 2;
  const SharedRun run = simulate_sharing(jobs, {});
  EXPECT_NEAR(run.ends[0].back().in(kMillisecond), 50, 1e-6);
  EXPECT_NEAR(run.ends[1].back().in(kMillisecond), 130, 1e-6);
}

// A takes 10 + 10, B 50 + 10: a round takes 60, which is what B takes by itself. First come: A asks
// once while B computes, so that it has one iteration to one of B, too.
TEST(TurnSimulation, AShortJobWaitsForALongTurn) {
  const auto jobs = jobs_of({plain(10, 10), plain(50, 10)});
  EXPECT_NEAR(iteration_ms(jobs, {}), 60, 1e-6);
  EXPECT_NEAR(iteration_ms(jobs, {.order = TurnOrder::kFirstCome}, 1), 60, 1e-6);
}

// Half the bytes per second for B: A sends 10 MB in 10 ms, B in 20 ms, over the same NICs. Both
// from 10 on at the same rate r: r (1 + 2) = 1, so 10 MB take 30 ms.
TEST(TurnSimulation, JobsMayPayDifferentlyForTheSameNetwork) {
  StepSetup dear = plain(10, 10);
  dear.groups[0].network.inverse_bandwidth = 2 * kMillisecond / kMB;
  const SharedRun run = simulate_sharing(
      jobs_of({plain(10, 10), dear}), {.order = TurnOrder::kSlices, .slice = 1e-3 * kMillisecond});
  EXPECT_NEAR(run.ends[0][0].in(kMillisecond), 50, 0.01);
  EXPECT_NEAR(run.ends[1][0].in(kMillisecond), 50, 0.01);
}

TEST(TurnSimulation, EventsTellTurnsBucketsAndUpdates) {
  const SharedRun run =
      simulate_sharing(jobs_of({plain(30, 20, 5), plain(30, 20, 5)}), {}, {.events = true});
  ASSERT_EQ(run.events.size(), 6U);
  const TurnEvent& turn = run.events[0];
  EXPECT_EQ(turn.kind, TurnEvent::Kind::kTurn);
  EXPECT_NEAR(turn.end.in(kMillisecond), 30, 1e-6);
  const TurnEvent& bucket = run.events[1];
  EXPECT_EQ(bucket.kind, TurnEvent::Kind::kBucket);
  EXPECT_NEAR(bucket.start.in(kMillisecond), 30, 1e-6);
  EXPECT_NEAR(bucket.end.in(kMillisecond), 50, 1e-6);
  const TurnEvent& update = run.events[2];
  EXPECT_EQ(update.kind, TurnEvent::Kind::kUpdate);
  EXPECT_NEAR(update.start.in(kMillisecond), 50, 1e-6);
  EXPECT_NEAR(update.end.in(kMillisecond), 55, 1e-6);
}

TEST(TurnSimulation, NoJobsTakeNoTime) {
  EXPECT_EQ(simulate_sharing({}, {}).makespan(), Seconds{});
}

}  // namespace
}  // namespace stint
