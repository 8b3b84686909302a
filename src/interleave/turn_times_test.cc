#include "interleave/turn_times.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

TurnTimes times(double compute_ms, double sync_ms, double rest_ms = 0) {
  return {.compute = compute_ms * kMillisecond,
          .sync = sync_ms * kMillisecond,
          .rest = rest_ms * kMillisecond};
}

double period_ms(const std::vector<TurnTimes>& jobs) {
  return shared_period(jobs).in(kMillisecond);
}

double bound_ms(const TurnTimes& often, const TurnTimes& seldom, int turns,
                LinkSharing sharing = LinkSharing::kFirstCome) {
  return rhythm_bound(often, seldom, turns, sharing).in(kMillisecond);
}

/// The end of the last of `rounds` rounds, divided by them: every job waits for its turn on the
/// accelerator and then on the network, each of which serves jobs in their order.
Seconds played_period(const std::vector<TurnTimes>& jobs, int rounds) {
  std::vector<Seconds> ready(jobs.size());
  Seconds accelerator;
  Seconds network;
  Seconds end;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      accelerator = std::max(accelerator, ready[i]) + jobs[i].compute;
      network = std::max(network, accelerator) + jobs[i].sync;
      ready[i] = network + jobs[i].rest;
      end = std::max(end, ready[i]);
    }
  }
  return end / rounds;
}

// Jobs of 30 + 10 and 20 + 15 ms: the accelerator has 50 ms to do, the network 25.
TEST(SharedPeriod, IsWhatTheAcceleratorHasToDo) {
  EXPECT_NEAR(period_ms({times(30, 10), times(20, 15)}), 50, 1e-9);
}

// 10 + 30 and 15 + 20: the network has 50 ms to do, the accelerator 25.
TEST(SharedPeriod, IsWhatTheNetworkHasToDo) {
  EXPECT_NEAR(period_ms({times(10, 30), times(15, 20)}), 50, 1e-9);
}

// 30 + 30 + 5 beside 10 + 10: 40 for accelerator and network, 65 for the first job by itself.
TEST(SharedPeriod, IsNeverShorterThanAJobAlone) {
  EXPECT_NEAR(period_ms({times(30, 30, 5), times(10, 10)}), 65, 1e-9);
}

// Three jobs of 20 + 20 ms: 60 in place of 120 one after the other.
TEST(SharedPeriod, HoldsForThreeJobs) {
  EXPECT_NEAR(period_ms({times(20, 20), times(20, 20), times(20, 20)}), 60, 1e-9);
}

TEST(SharedPeriod, OfNoJobsIsZeroAndOfOneItsIteration) {
  EXPECT_EQ(shared_period({}), Seconds{});
  EXPECT_NEAR(period_ms({times(3, 4, 1)}), 8, 1e-9);
}

TEST(SharedPeriodProperty, IsReachedByTurnsInTheSameOrder) {
  constexpr int kSeed = 71;
  constexpr int kRounds = 4000;
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    std::vector<TurnTimes> jobs;
    const int count = 1 + random.below(5);
    for (int i = 0; i < count; ++i) {
      // With three jobs and rests the formula is a bound only.
      const double rest = count <= 2 ? random.uniform(0, 20) : 0;
      jobs.push_back(times(random.uniform(0, 50), random.uniform(0, 50), rest));
    }
    const double period = period_ms(jobs);
    const double played = played_period(jobs, kRounds).in(kMillisecond);
    ASSERT_GE(played, period * (1 - 1e-9));
    // The first and the last round take at most one turn of each job longer.
    ASSERT_LE(played, period * (1 + 6.0 / kRounds));
  }
}

// c1 = s1 = 0 with a rest of 10, then 5 + 5 and 5 + 5: the terms are 10, 10, 10, but the cycle
// c1, c2, s2, s3, s1 and the rest takes 5 + 5 + 5 + 10 = 25 in two rounds.
TEST(SharedPeriod, IsOnlyABoundForThreeJobsWithRests) {
  const std::vector<TurnTimes> jobs{times(0, 0, 10), times(5, 5), times(5, 5)};
  EXPECT_NEAR(period_ms(jobs), 10, 1e-9);
  EXPECT_NEAR(played_period(jobs, 4000).in(kMillisecond), 12.5, 0.01);
}

// One turn each is the period of two jobs: 30 + 10 and 20 + 15.
TEST(RhythmBound, OfOneTurnEachIsThePeriod) {
  EXPECT_NEAR(bound_ms(times(30, 10), times(20, 15), 1), 50, 1e-9);
}

// Two turns of 10 + 4 to one of 30 + 20. Accelerator 2 · 10 + 30 = 50; network 28; A alone 28; B
// alone 50; B in a gap of A: 20 + 4 + 30 = 54. On the network 8 + 10 + 20 = 38.
TEST(RhythmBound, CountsTheGapThatALongTurnStretches) {
  EXPECT_NEAR(bound_ms(times(10, 4), times(30, 20), 2), 54, 1e-9);
}

// Two turns of 4 + 10 to one of 20 + 30: the same with the network's gap, 54; shared evenly, the
// network may carry B in both gaps: 2 · 10 + 30 = 50, and B alone 50.
TEST(RhythmBound, CountsTheNetworksGapOnlyWhereItServesOneByOne) {
  EXPECT_NEAR(bound_ms(times(4, 10), times(20, 30), 2), 54, 1e-9);
  EXPECT_NEAR(bound_ms(times(4, 10), times(20, 30), 2, LinkSharing::kFair), 50, 1e-9);
}

// Three turns of 10 + 10 + 2 take 66 whatever B does.
TEST(RhythmBound, CountsTheRest) {
  EXPECT_NEAR(bound_ms(times(10, 10, 2), times(1, 1), 3), 66, 1e-9);
}

TEST(RhythmBoundProperty, OfOneTurnEachIsAlwaysThePeriod) {
  constexpr int kSeed = 72;
  Random random(kSeed);
  for (int trial = 0; trial < 1000; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    const auto any = [&] {
      return times(random.uniform(0, 50), random.uniform(0, 50), random.uniform(0, 20));
    };
    const std::vector<TurnTimes> jobs{any(), any()};
    for (const LinkSharing sharing : {LinkSharing::kFirstCome, LinkSharing::kFair}) {
      ASSERT_NEAR(bound_ms(jobs[0], jobs[1], 1, sharing), period_ms(jobs), 1e-9);
    }
  }
}

TEST(TurnTerms, HoldGradientsBackOnlyInWholeTurns) {
  EXPECT_FALSE(terms_of(SharingMode::kWhole).overlap);
  EXPECT_TRUE(terms_of(SharingMode::kBucket).overlap);
  EXPECT_TRUE(terms_of(SharingMode::kFreely).overlap);
}

TEST(TurnTerms, KeepARhythmUnlessJobsShareFreely) {
  EXPECT_EQ(terms_of(SharingMode::kWhole).order, TurnOrder::kRhythm);
  EXPECT_EQ(terms_of(SharingMode::kBucket).order, TurnOrder::kRhythm);
  EXPECT_EQ(terms_of(SharingMode::kFreely).order, TurnOrder::kSlices);
}

}  // namespace

}  // namespace stint
