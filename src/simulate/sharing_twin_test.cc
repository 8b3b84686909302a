#include "simulate/sharing_twin.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "interleave/pairing_fixture.h"

namespace stint {
namespace {

/// 30 ms of computing, 20 of sending, 5 of updating, on two VMs.
SharedStepJob job() {
  return {.setup = {.groups = {{.vms = 2,
                                .forward = 10 * kMillisecond,
                                .backward = 20 * kMillisecond,
                                .update = 5 * kMillisecond,
                                .network = {.inverse_bandwidth = 1 * kMillisecond / kMB}}},
                    .buckets = {{.bytes = 20 * kMB, .ready = 1}}},
          .iterations = 2};
}

TEST(TurnTimeline, HasARowForTheTurnAndOneForEachJob) {
  const std::vector<SharedStepJob> jobs{job(), job()};
  const SharedRun run = simulate_sharing(jobs, {}, {.events = true});
  const TurnTimeline picture = turn_timeline(run, {"a", "b"}, {"2x vm"});
  EXPECT_EQ(picture.rows, (std::vector<std::string>{"turn on 2x vm", "a on 2x vm", "b on 2x vm"}));
  // Each iteration: the turn twice, a bucket and an update.
  EXPECT_EQ(picture.events.size(), 2U * 2 * 4);
  const auto turns = std::count_if(picture.events.begin(), picture.events.end(),
                                   [](const TimelineEvent& it) { return it.group == 0; });
  EXPECT_EQ(turns, 4);
  EXPECT_EQ(picture.events[0].name, "a");
  EXPECT_EQ(picture.events[1].name, "iteration 1");
  EXPECT_NE(chrome_trace(picture.events, picture.rows).find("turn on 2x vm"), std::string::npos);
}

// Only one job computes on an accelerator at a time.
TEST(TurnTimeline, TurnsDoNotOverlap) {
  const std::vector<SharedStepJob> jobs{job(), job()};
  for (const TurnOrder order : {TurnOrder::kRhythm, TurnOrder::kFirstCome, TurnOrder::kSlices}) {
    const SharedRun run = simulate_sharing(jobs, {.order = order}, {.events = true});
    Seconds end;
    for (const TimelineEvent& it : turn_timeline(run, {"a", "b"}, {"2x vm"}).events) {
      if (it.group != 0) continue;
      EXPECT_GE(it.start.in(kSecond), end.in(kSecond)-1e-9);
      end = it.start + it.duration;
    }
    EXPECT_GT(end, Seconds{});
  }
}

TEST(TurnTimeline, DrawsEveryGroup) {
  std::vector<SharedStepJob> jobs{job(), job()};
  for (SharedStepJob& it : jobs) it.setup.groups.push_back(it.setup.groups[0]);
  const SharedRun run = simulate_sharing(jobs, {}, {.events = true});
  const TurnTimeline picture = turn_timeline(run, {"a", "b"}, {"x", "y"});
  EXPECT_EQ(picture.rows.size(), 6U);
  const auto in_last = std::count_if(picture.events.begin(), picture.events.end(),
                                     [](const TimelineEvent& it) { return it.group == 5; });
  EXPECT_EQ(in_last, 2 * 3);
}

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

// 6 ms beside two seconds: the simulation would take minutes, and the answer is of no use.
TEST(SharingTwin, SharingFreelyOfVeryDifferentJobsIsNotSimulated) {
  const ShareJob small = plain_job("a", 4, 2);
  EXPECT_TRUE(
      twin_models().freely({small, plain_job("b", 60, 40), SharingMode::kFreely}).has_value());
  EXPECT_FALSE(
      twin_models().freely({small, plain_job("b", 1000, 1000), SharingMode::kFreely}).has_value());
}

}  // namespace

}  // namespace stint
