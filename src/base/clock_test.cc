#include "base/clock.h"

#include <gtest/gtest.h>

namespace stint {

TEST(Clock, FixedClockMovesOnlyWhenTold) {
  FixedClock clock(10 * kSecond);
  EXPECT_DOUBLE_EQ(clock.now().in(kSecond), 10);
  clock.advance(5 * kSecond);
  EXPECT_DOUBLE_EQ(clock.now().in(kSecond), 15);
}

TEST(Clock, SystemClockIsPastTheYear2020) { EXPECT_GT(SystemClock().now(), 18262 * kDay); }

}  // namespace stint
