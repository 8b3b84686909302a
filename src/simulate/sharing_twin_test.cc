#include "simulate/sharing_twin.h"

#include <gtest/gtest.h>

#include "interleave/pairing_fixture.h"

namespace stint {
namespace {

SharedPace by_turns(const ShareJob& a, const ShareJob& b, SharingMode mode,
                    std::array<int, 2> turns = {1, 1}) {
  return *twin_models().turns({a, b, mode, turns});
}

// 40 + 20 ms each, nothing hidden: rounds of 80 ms over 60.
TEST(SharingTwin, EqualJobsHaveThePeriodOfTheFormula) {
  const ShareJob job = plain_job("a", 40, 20);
  const SharedPace pace = by_turns(job, job, SharingMode::kWhole);
  EXPECT_NEAR(pace.slowdown[0], 80.0 / 60, 1e-6);
  EXPECT_NEAR(pace.slowdown[1], 80.0 / 60, 1e-6);
  EXPECT_EQ(pace.deviation, 0);
}

// Gradients leave from the start of 40 ms of backward in a stream of 50 MB: alone 20 + 50 = 70 ms.
// Rounds of turns are bound by the accelerator: 120 ms, 1.17 times as fast as one after the other.
TEST(SharingTwin, JobsThatOverlapGainLess) {
  ShareJob job = plain_job("a", 60, 50);
  job.setup.buckets[0].ready = 0;
  job.alone = total(step_parts(job.setup));
  const SharedPace bucket = by_turns(job, job, SharingMode::kBucket);
  EXPECT_NEAR(bucket.slowdown[0], 120.0 / 70, 1e-3);
  const SharedPace whole = by_turns(job, job, SharingMode::kWhole);
  EXPECT_GE(whole.slowdown[0], bucket.slowdown[0] - 1e-3);
}

// Two turns of 10 + 10 ms in a round with one of 60 + 40.
TEST(SharingTwin, KnowsRhythms) {
  const SharedPace pace =
      by_turns(plain_job("a", 10, 10), plain_job("b", 60, 40), SharingMode::kWhole, {2, 1});
  EXPECT_NEAR(pace.slowdown[1] * 100, 2 * pace.slowdown[0] * 20, 1e-6);
  EXPECT_GE(pace.slowdown[1], 1 - 1e-9);
}

// Freely, 40 + 20 ms each that are d apart take 120 − 2 d, and 80 when d has grown to 20, as it
// does by slices of 2 ms within a tenth of the rounds that are played.
TEST(SharingTwin, SharingFreelyMovesEqualJobsApart) {
  const ShareJob job = plain_job("a", 40, 20);
  const SharedPace pace = *twin_models().freely({job, job, SharingMode::kFreely});
  EXPECT_NEAR(pace.slowdown[0] * 60, 80, 2);
  EXPECT_NEAR(pace.slowdown[0], pace.slowdown[1], 0.02);
  EXPECT_GT(pace.slowdown[0], by_turns(job, job, SharingMode::kWhole).slowdown[0] - 1e-9);
}

// 30 + 30 beside 50 + 5 ms: the second is nearly always computing.
TEST(SharingTwin, SharingFreelyKeepsTheAcceleratorBusy) {
  const ShareJob a = plain_job("a", 30, 30);
  const ShareJob b = plain_job("b", 50, 5);
  const SharedPace freely = *twin_models().freely({a, b, SharingMode::kFreely});
  // Shares of the accelerator that both have together, which is all of it at most.
  const double busy = 30 / (freely.slowdown[0] * 60) + 50 / (freely.slowdown[1] * 55);
  EXPECT_LE(busy, 1 + 1e-6);
  EXPECT_GT(busy, 0.8);
  EXPECT_GE(freely.deviation, 0);
}

// While the other sends, computing takes 1.5 times as long: in a round of two turns each job
// computes 20 of its 40 ms beside the other's 20 ms of sending, 1.5 · 13.3 and then 26.7 alone.
TEST(SharingTwin, HandsItsOptionsOn) {
  const ShareJob job = plain_job("a", 40, 20);
  const SharedPace slowed =
      *twin_models({.compute_slowdown = 0.5}).turns({job, job, SharingMode::kWhole, {1, 1}});
  EXPECT_NEAR(slowed.slowdown[0] * 60, 2 * (20 + 40 - 20 / 1.5), 1e-3);
  const SharedPace late =
      *twin_models({.hand_over = 1 * kMillisecond}).turns({job, job, SharingMode::kWhole, {1, 1}});
  EXPECT_NEAR(late.slowdown[0] * 60, 82, 1e-3);
}

}  // namespace
}  // namespace stint
