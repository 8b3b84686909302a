#include "simulate/turn_timeline.h"

#include <algorithm>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stint
