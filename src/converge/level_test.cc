#include "converge/level.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// The best so far is 0.6 at 20; from 20 to 30 it goes to 0.8, so 0.7 is reached half way.
TEST(MomentOf, FollowsTheBestSoFar) {
  const MetricPoint run[] = {{10, 0.6}, {20, 0.4}, {30, 0.8}, {40, 0.5}};
  EXPECT_DOUBLE_EQ(moment_of(run, {.value = 0.7}).value(), 25);
}

// 40 falls to 20 between 10 and 20: 30 is half way.
TEST(MomentOf, TurnsRoundForErrorRates) {
  const MetricPoint run[] = {{10, 40}, {20, 20}};
  EXPECT_DOUBLE_EQ(moment_of(run, {.value = 30, .lower_is_better = true}).value(), 15);
}

TEST(MomentOf, TakesTheFirstPointWhenItIsGoodEnough) {
  const MetricPoint run[] = {{10, 0.6}, {20, 0.8}};
  EXPECT_DOUBLE_EQ(moment_of(run, {.value = 0.6}).value(), 10);
}

TEST(MomentOf, HasNothingForARunThatFallsShort) {
  const MetricPoint run[] = {{10, 0.6}, {20, 0.8}};
  EXPECT_FALSE(moment_of(run, {.value = 0.9}).has_value());
  EXPECT_FALSE(moment_of({}, {.value = 0.9}).has_value());
}

}  // namespace
}  // namespace stint
