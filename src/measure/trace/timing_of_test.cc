#include "measure/trace/timing_of.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// Sorted 1, 2, 4, 9: the median is 3; deviations 1, 1, 2, 6 have the median 1.5.
TEST(TimingOf, IsTheMedianAndTheMedianDeviation) {
  const Timing timing = timing_of({4 * kSecond, 1 * kSecond, 9 * kSecond, 2 * kSecond});
  EXPECT_EQ(timing.median, 3 * kSecond);
  EXPECT_NEAR(timing.spread->in(kSecond), 1.5 * 1.4826, 1e-12);
  EXPECT_EQ(timing.count, 4);
}

// Of 1, 2, 3, 4 and 100 the median is 3, the deviations 2, 1, 0, 1, 97, their median 1.
TEST(TimingOf, DoesNotMindOneLongTime) {
  const Timing timing =
      timing_of({4 * kSecond, 1 * kSecond, 100 * kSecond, 3 * kSecond, 2 * kSecond});
  EXPECT_EQ(timing.median, 3 * kSecond);
  EXPECT_NEAR(timing.spread->in(kSecond), 1.4826, 1e-12);
}

TEST(ProfileTime, KeepsFourDigits) {
  EXPECT_EQ(profile_time(1.23456789012 * kSecond), 1235 * kMillisecond);
  EXPECT_EQ(profile_time(0.0123456 * kMillisecond), 0.01235 * kMillisecond);
  EXPECT_EQ(profile_time(123.456 * kSecond), 123500 * kMillisecond);
  EXPECT_EQ(profile_time(1e-17 * kSecond), Seconds{});
  const Timing timing = profile_timing({.median = 1.23456 * kSecond, .spread = 0.123456 * kSecond});
  EXPECT_EQ(timing.median, 1235 * kMillisecond);
  EXPECT_EQ(timing.spread, 123.5 * kMillisecond);
}

TEST(Rounded, KeepsNanoseconds) {
  EXPECT_DOUBLE_EQ(to_nanosecond(1.23456789012 * kSecond).in(kSecond), 1.23456789);
}

}  // namespace
}  // namespace stint
