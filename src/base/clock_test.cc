#include "base/clock.h"

#include <gtest/gtest.h>

#include "base/descriptor.h"

namespace stint {

TEST(Clock, FixedClockMovesOnlyWhenTold) {
  FixedClock clock(10 * kSecond);
  EXPECT_DOUBLE_EQ(clock.now().in(kSecond), 10);
  clock.advance(5 * kSecond);
  EXPECT_DOUBLE_EQ(clock.now().in(kSecond), 15);
}

TEST(Clock, SystemClockIsPastTheYear2020) { EXPECT_GT(SystemClock().now(), 18262 * kDay); }

// The steady clock begins with the boot as well, but stands still in a suspend.
TEST(BootTime, NeverGoesBackAndIsNotBehindTheSteadyClock) {
  const Seconds steady = steady_now();
  const Seconds first = boot_time();
  EXPECT_GE(first, steady);
  EXPECT_GE(boot_time(), first);
}

TEST(BootTime, TheBootHasOneName) {
  EXPECT_EQ(boot_id(), boot_id());
  EXPECT_EQ(boot_id().find('\n'), std::string::npos);
}

}  // namespace stint
