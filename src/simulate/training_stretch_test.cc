#include "simulate/training_stretch.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// Ten hours, saved every two with a stall of 0.1 h and a transfer of 0.5 h.
SavedWork job() {
  return {.work = 10 * kHour,
          .save = {.stall = 0.1 * kHour, .transfer = 0.5 * kHour, .restore = {}},
          .schedule = {.interval = 2 * kHour}};
}

double hours(Seconds time) { return time.in(kHour); }

// Saves at 2, 4, 6 and 8 h of work; the one at 10 h would be of no use.
TEST(Train, TakesTheWorkAndItsSaves) {
  const Stretch stretch = train(job(), {}, kNever);
  EXPECT_TRUE(stretch.done);
  EXPECT_NEAR(hours(stretch.time), 10.4, 1e-9);
  EXPECT_EQ(stretch.end.saves, 4);
  EXPECT_NEAR(hours(stretch.end.stalled), 0.4, 1e-9);
  EXPECT_NEAR(hours(stretch.safe.work), 10, 1e-9);
}

// Work of 8.4 h leaves 0.4 h after the fourth save, which would not be safe before the end.
TEST(Train, BeginsNoSaveThatTheEndOvertakes) {
  SavedWork shorter = job();
  shorter.work = 8.4 * kHour;
  EXPECT_EQ(train(shorter, {}, kNever).end.saves, 3);
}

// The first save begins at 2 h, ends at 2.1 h and is safe at 2.6 h.
TEST(Train, KeepsOnlyWhatIsSafe) {
  const Stretch early = train(job(), {}, 2.5 * kHour);
  EXPECT_NEAR(hours(early.end.work), 2.4, 1e-9);
  EXPECT_NEAR(hours(early.safe.work), 0, 1e-9);
  const Stretch late = train(job(), {}, 2.7 * kHour);
  EXPECT_NEAR(hours(late.safe.work), 2, 1e-9);
  EXPECT_NEAR(hours(late.safe.stalled), 0.1, 1e-9);
  EXPECT_FALSE(late.done);
  // It goes on from there to the second save, 1.9 h after the start if none was in between.
  const Stretch next = train(job(), late.safe, 2.6 * kHour);
  EXPECT_NEAR(hours(next.safe.work), 4, 1e-9);
}

// Interrupted in the middle of the stall, with notice: the rest of it follows.
TEST(Train, EndsAStallThatWasInterrupted) {
  const Stretch stretch = train(job(), {}, 2.04 * kHour);
  EXPECT_NEAR(hours(stretch.end.stall_left), 0.06, 1e-9);
  const Stretch rest = train(job(), stretch.end, kNever);
  EXPECT_NEAR(hours(stretch.time + rest.time), 10.4, 1e-9);
}

// By time since the start: saves at 1 h and 3 h, then every 2 h.
TEST(Train, SavesByTheTimeSinceTheStart) {
  SavedWork by_time = job();
  by_time.schedule = {.begins = {1 * kHour, 3 * kHour}};
  const Stretch stretch = train(by_time, {}, 5.7 * kHour);
  EXPECT_EQ(stretch.end.saves, 3);
  EXPECT_NEAR(hours(stretch.safe.work), 4.8, 1e-9);  // Saved at 5 h, after two stalls.
  EXPECT_NEAR(hours(stretch.end.work), 5.4, 1e-9);
}

TEST(Train, WithoutAScheduleNeverSaves) {
  SavedWork bare = job();
  bare.schedule = {};
  const Stretch stretch = train(bare, {}, 9 * kHour);
  EXPECT_EQ(stretch.end.saves, 0);
  EXPECT_EQ(stretch.safe.work, Seconds());
}

}  // namespace
}  // namespace stint
