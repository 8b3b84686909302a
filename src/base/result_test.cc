#include "base/result.h"

#include <gtest/gtest.h>

namespace stint {

TEST(Result, HoldsAValue) {
  const Result<int> result = 7;
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 7);
}

TEST(Result, HoldsAnErrorWithItsKind) {
  const Result<int> result = bad_usage("no such flag");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(result.error().message, "no such flag");
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorIsABug) {
  const Result<int> result = failed("no");
  EXPECT_DEATH((void)*result, "CHECK");
}

TEST(Status, IsSuccessByDefault) {
  EXPECT_TRUE(Status{}.ok());
  EXPECT_FALSE(Status{failed("no")}.ok());
}

}  // namespace stint
