#include "interleave/saved_range.h"

#include <cmath>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stint
