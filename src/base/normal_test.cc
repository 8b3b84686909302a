#include "base/normal.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// From tables of the normal distribution.
TEST(Normal, AgreesWithTables) {
  EXPECT_DOUBLE_EQ(normal_distribution(0), 0.5);
  EXPECT_NEAR(normal_distribution(1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(normal_quantile(0.95), 1.6448536269514722, 1e-12);
  EXPECT_NEAR(normal_quantile(0.1), -1.2815515655446004, 1e-12);
}

// Of 0, 1 and 3 the quantile of 0.75 is half way between the last two.
TEST(Normal, QuantilesLieBetweenSortedValues) {
  const std::vector<double> sorted = {0, 1, 3};
  EXPECT_EQ(sorted_quantile(sorted, 0), 0);
  EXPECT_EQ(sorted_quantile(sorted, 0.5), 1);
  EXPECT_EQ(sorted_quantile(sorted, 0.75), 2);
  EXPECT_EQ(sorted_quantile(sorted, 1), 3);
  EXPECT_EQ(sorted_quantile(std::vector<double>{7}, 0.9), 7);
}

}  // namespace
}  // namespace stint
