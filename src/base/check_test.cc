#include "base/check.h"

#include <gtest/gtest.h>

namespace stint {

TEST(Check, PassesWhenTheConditionHolds) { CHECK(1 + 1 == 2); }

TEST(CheckDeathTest, NamesTheConditionThatFailed) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "CHECK\\(1 \\+ 1 == 3\\) failed at .*check_test.cc");
}

}  // namespace stint
