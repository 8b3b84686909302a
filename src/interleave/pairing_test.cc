#include "interleave/pairing.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"
#include "interleave/pairing_fixture.h"

namespace stint {
namespace {

const ShareCluster kCluster{.rate = 3.6 * kDollar / kHour};
const SharingModels kTurns{.turns = closed_form_pace};

PairTerms terms() { return {.cluster = kCluster, .models = kTurns}; }

TEST(SavedRange, OfSureJobsIsOneValue) {
  const ShareJob a = plain_job("a", 30, 30);
  const PairVerdict verdict = pair_verdict(a, a, terms());
  const TimeRange saved = saved_range(a, a, verdict.options.front(), terms());
  EXPECT_NEAR(saved.p10.in(kSecond), 60, 1e-6);
  EXPECT_NEAR(saved.p90.in(kSecond), 60, 1e-6);
}

// Only the iterations of A are unsure, by 10 %. 40 + 20 beside 40 + 20 in rounds of 80: with 1105
// iterations of A, 105 are left over, so nothing more is saved than the 40 s; with 905, B is left
// with 95 iterations of 60 ms after 905 rounds, and 95 · 40 ms less are saved: 36.2 s. Half of the
// difference is 1.9 s, and the interval 1.28 times as wide.
TEST(SavedRange, HoldsWhatIsUnsureAboutIterations) {
  ShareJob a = plain_job("a", 40, 20);
  a.iterations_deviation = 0.1;
  const ShareJob b = plain_job("b", 40, 20);
  const PairVerdict verdict = pair_verdict(a, b, terms());
  const TimeRange saved = saved_range(a, b, verdict.options.front(), terms());
  EXPECT_NEAR(saved.mean.in(kSecond), 40, 1e-6);
  EXPECT_NEAR((saved.p90 - saved.mean).in(kSecond), 1.2816 * 40 * (1 - std::exp(-0.1)) / 2, 1e-3);
}

TEST(SavedRange, IsWiderTheLessIsKnown) {
  ShareJob a = plain_job("a", 40, 20);
  const ShareJob b = plain_job("b", 40, 30);
  Seconds width;
  for (const double deviation : {0.02, 0.1, 0.3}) {
    a.deviation = deviation;
    const PairVerdict verdict = pair_verdict(a, b, terms());
    const TimeRange saved = saved_range(a, b, verdict.options.front(), terms());
    EXPECT_GT(saved.p90 - saved.p10, width);
    width = saved.p90 - saved.p10;
  }
}

// 40 + 20 ms, off by 5 %, beside 40 + 20: a third of an iteration is sending, which is off by 15 %.
// Rounds of 80 ms are bound by computing, so that 20 e^±0.15 ms of sending of A change only what A
// takes alone: by 20 s · sinh 0.15 either way.
TEST(SavedRange, LeavesWhatIsUnsureToCommunicationWhereComputingWasMeasured) {
  ShareJob a = plain_job("a", 40, 20);
  a.deviation = 0.05;
  const ShareJob b = plain_job("b", 40, 20);
  const PairVerdict verdict = pair_verdict(a, b, terms());
  const auto width = [&] {
    const TimeRange saved = saved_range(a, b, verdict.options.front(), terms());
    return (saved.p90 - saved.mean).in(kSecond);
  };
  EXPECT_NEAR(width(), 1.2816 * 20 * std::sinh(0.15), 0.05);
  a.compute_measured = false;
  EXPECT_GT(std::abs(width() - 1.2816 * 20 * std::sinh(0.15)), 0.1);
}

// 30 + 30 ms each, of which nobody knows what else is sent: if nothing, rounds take 60 ms for 120,
// and 60 s are saved. If gradients leave during all of the 20 ms of backward as well, there are 50
// ms to send: rounds of 100 ms, and 20 s are saved.
TEST(SavedRange, HoldsBothExtremesOfWhatIsHidden) {
  ShareJob job = plain_job("a", 30, 30);
  const PairVerdict verdict = pair_verdict(job, job, terms());
  job.overlap_known = false;
  const TimeRange saved = saved_range(job, job, verdict.options.front(), terms());
  EXPECT_NEAR(saved.mean.in(kSecond), 60, 1e-6);
  EXPECT_NEAR(saved.p90.in(kSecond), 60, 1e-6);
  EXPECT_NEAR(saved.p10.in(kSecond), 20, 1e-6);
}

const PairTerms kTerms{.cluster = kCluster, .models = kTurns};

Pairing best(const std::vector<ShareJob>& jobs) {
  const auto pairing = best_pairing(jobs, judge_pairs(jobs, kTerms), kCluster);
  EXPECT_TRUE(pairing.ok());
  return *pairing;
}

/// The least time of clusters of any pairing of the jobs from `next` on, of which `used` are taken.
Seconds brute_force(const std::vector<ShareJob>& jobs, const std::vector<PairJudged>& judged,
                    std::size_t next = 0, unsigned used = 0) {
  if (next == jobs.size()) return {};
  if ((used >> next & 1U) != 0) return brute_force(jobs, judged, next + 1, used);
  Seconds least = jobs[next].iterations * jobs[next].alone +
                  brute_force(jobs, judged, next + 1, used | 1U << next);
  for (const PairJudged& it : judged) {
    const bool free = it.first == next && (used >> it.second & 1U) == 0;
    if (!free || it.verdict.refusal != PairRefusal::kNone) continue;
    const unsigned both = 1U << it.first | 1U << it.second;
    least = std::min(least, it.verdict.options.front().outcome.makespan +
                                brute_force(jobs, judged, next + 1, used | both));
  }
  return least;
}

// Compute-bound with network-bound: 80 + 20 and 20 + 80 fill each other's gaps, rounds of 100 ms
// for 200. Alike with alike would take 160 for 200.
TEST(Pairing, PutsUnlikeJobsTogether) {
  const std::vector<ShareJob> jobs{plain_job("a", 80, 20), plain_job("b", 80, 20),
                                   plain_job("c", 20, 80), plain_job("d", 20, 80)};
  const Pairing pairing = best(jobs);
  ASSERT_EQ(pairing.pairs.size(), 2U);
  for (const PairJudged& pair : pairing.pairs) {
    EXPECT_LT(pair.first, 2U);
    EXPECT_GE(pair.second, 2U);
  }
  EXPECT_TRUE(pairing.alone.empty());
  EXPECT_NEAR(pairing.separate.in(kSecond), 400, 1e-6);
  EXPECT_NEAR(pairing.shared.in(kSecond), 200, 1e-6);
}

TEST(Pairing, LeavesAJobAloneThatGainsNothing) {
  const std::vector<ShareJob> jobs{plain_job("a", 50, 50), plain_job("b", 100, 0.01),
                                   plain_job("c", 50, 50)};
  const Pairing pairing = best(jobs);
  ASSERT_EQ(pairing.pairs.size(), 1U);
  EXPECT_EQ(pairing.alone, (std::vector<std::size_t>{1}));
  EXPECT_NEAR(pairing.shared.in(kSecond), 200.01, 1e-6);
}

TEST(Pairing, OfOneJobLeavesItAlone) {
  const Pairing pairing = best({plain_job("a", 50, 50)});
  EXPECT_TRUE(pairing.pairs.empty());
  EXPECT_EQ(pairing.alone, (std::vector<std::size_t>{0}));
  EXPECT_EQ(pairing.separate, pairing.shared);
}

TEST(PairingProperty, EqualsBruteForceOnSmallCases) {
  constexpr int kSeed = 74;
  Random random(kSeed);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    std::vector<ShareJob> jobs;
    for (int count = 1 + random.below(7), i = 0; i < count; ++i) {
      jobs.push_back(plain_job("job", random.uniform(5, 100), random.uniform(5, 100)));
      jobs.back().iterations = 100 + random.below(2000);
      if (random.below(3) == 0) {
        jobs.back().deadline = random.uniform(1, 2) * jobs.back().iterations * jobs.back().alone;
      }
    }
    const auto judged = judge_pairs(jobs, kTerms);
    const auto pairing = best_pairing(jobs, judged, kCluster);
    ASSERT_TRUE(pairing.ok());
    // Micro-dollars are rounded: at $3.6 an hour one of them is a millisecond.
    ASSERT_NEAR(pairing->shared.in(kSecond), brute_force(jobs, judged).in(kSecond), 0.01);
  }
}

}  // namespace

}  // namespace stint
