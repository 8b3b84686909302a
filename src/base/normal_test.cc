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

}  // namespace
}  // namespace stint
