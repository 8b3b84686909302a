#include "run/run_clock.h"

#include <gtest/gtest.h>

#include "run/run_fixture.h"

namespace stint {
namespace {

/// A run that began at 1000 s by the wall clock, 50 s after the boot "one".
RunRecord begun() {
  RunRecord record = small_record();
  begin_run(record, {.wall = 1000 * kSecond, .boot = 50 * kSecond, .name = "one"});
  return record;
}

ClockReading reading(double wall, double boot, const char* name) {
  return {.wall = wall * kSecond, .boot = boot * kSecond, .name = name};
}

// 30 s later somebody has set the wall clock back by an hour, or forward by a day.
TEST(RunClock, SettingTheWallClockChangesNothing) {
  const RunRecord record = begun();
  for (const double set : {0.0, -3600.0, 3600.0, -86400.0, 86400.0}) {
    EXPECT_EQ(run_time(record, reading(1030 + set, 80, "one"), {}), 30 * kSecond) << set;
  }
}

// 30 s later, of which the computer was suspended for a part: boot time counts it.
TEST(RunClock, ASuspendCounts) {
  EXPECT_EQ(run_time(begun(), reading(87430, 86480, "one"), {}), 86430 * kSecond);
}

TEST(RunClock, AfterARebootWallTimeTellsHowLongTheComputerWasOff) {
  RunRecord record = begun();
  const ClockReading now = reading(5000, 7, "two");
  EXPECT_EQ(run_time(record, now, 100 * kSecond), 4000 * kSecond);
  ASSERT_TRUE(place_run(record, now, 100 * kSecond));
  EXPECT_EQ(record.began, 1000 * kSecond);
  EXPECT_EQ(record.clock->boot, "two");
  // From then on boot time decides again.
  EXPECT_EQ(run_time(record, reading(0, 17, "two"), {}), 4010 * kSecond);
  EXPECT_FALSE(place_run(record, reading(0, 17, "two"), {}));
}

// The battery of the wall clock is empty: after the reboot it is 1970, before the latest event.
TEST(RunClock, TimeNeverGoesBack) {
  RunRecord record = begun();
  const ClockReading now = reading(3, 7, "two");
  EXPECT_EQ(run_time(record, now, 100 * kSecond), 100 * kSecond);
  ASSERT_TRUE(place_run(record, now, 100 * kSecond));
  EXPECT_EQ(run_time(record, reading(4, 8, "two"), {}), 101 * kSecond);
}

TEST(RunClock, RecordsOfEarlierVersionsHaveOnlyWallTime) {
  RunRecord record = small_record();  // Began at 1000 s.
  EXPECT_EQ(run_time(record, reading(1030, 80, "one"), {}), 30 * kSecond);
  EXPECT_TRUE(place_run(record, reading(1030, 80, "one"), {}));
  EXPECT_EQ(run_time(record, reading(0, 81, "one"), {}), 31 * kSecond);
}

TEST(RunClock, WithoutANameOfTheBootWallTimeDecides) {
  RunRecord record = begun();
  record.clock->boot.clear();
  EXPECT_EQ(run_time(record, reading(1040, 80, ""), {}), 40 * kSecond);
}

TEST(RunClock, ShowsTheBeginningAndWhatPassedSince) {
  RunRecord record = small_record();
  begin_run(record, {.wall = 1000 * kSecond, .boot = boot_time() - 20 * kSecond, .name = "one"});
  const RunClock clock(record);
  EXPECT_GE(clock.now(), 1020 * kSecond);
  EXPECT_LT(clock.now(), 1080 * kSecond);
}

TEST(RunClock, ThePlaceIsKeptInTheRecord) {
  const auto read = read_run(write_run(begun()), "run.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_EQ(run_time(read->noun, reading(0, 80, "one"), {}), 30 * kSecond);
}

}  // namespace
}  // namespace stint
