#include "run/run_steps.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr std::int64_t kSteps = 1000;

/// The events of steps 1 to `count` of 0.1 s, if there is another event after every tenth step.
std::vector<RunEvent> events_of(RunSteps& steps, int attempt, int count) {
  std::vector<RunEvent> events;
  for (int step = 1; step <= count; ++step) {
    const bool now = steps.add(attempt, step, 0.1 * kSecond, 0.1 * step * kSecond, kSteps);
    if (!now && step % 10 != 0) continue;
    events.push_back(*steps.take());
    EXPECT_FALSE(steps.take());
  }
  return events;
}

TEST(RunSteps, AreMergedAfterTheFirstOfAnAttempt) {
  RunSteps steps;
  const std::vector<RunEvent> events = events_of(steps, 1, 100);
  // 1 to 11 one by one, 12 to 20 together, then eight times ten.
  ASSERT_EQ(events.size(), 20U);
  EXPECT_EQ(events[10].step, 11);
  EXPECT_FALSE(events[10].steps);
  EXPECT_EQ(events[11].step, 20);
  EXPECT_EQ(events[11].steps, 9);
  EXPECT_EQ(events[19].steps, 10);
  EXPECT_EQ(events[19].duration, 0.1 * kSecond);
  EXPECT_EQ(events[19].at, 10 * kSecond);  // The time of its last step.
  EXPECT_EQ(events_of(steps, 2, 5).size(), 5U);
}

TEST(RunSteps, TheLastOnesAreEventsOfTheirOwn) {
  RunSteps steps;
  (void)events_of(steps, 1, 100);
  EXPECT_FALSE(steps.add(1, kSteps - 16, kSecond, kSecond, kSteps));
  EXPECT_TRUE(steps.add(1, kSteps - 15, kSecond, kSecond, kSteps));
  EXPECT_TRUE(steps.add(1, kSteps, kSecond, kSecond, kSteps));
  EXPECT_FALSE(steps.add(1, kSteps + 1, kSecond, kSecond, kSteps));  // A plain script goes on.
}

TEST(RunSteps, OneThatWasHeldUpDoesNotCount) {
  RunSteps steps;
  (void)events_of(steps, 1, 100);
  for (const double time : {0.1, 30.0, 0.1}) {
    (void)steps.add(1, 101, time * kSecond, 20 * kSecond, kSteps);
  }
  EXPECT_EQ(steps.take()->duration, 0.1 * kSecond);
}

}  // namespace
}  // namespace stint
