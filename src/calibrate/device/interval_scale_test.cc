#include "calibrate/device/interval_scale.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(IntervalScale, WidensWhereErrorsAreLargerThanTheirDeviations) {
  std::vector<double> errors;
  for (int i = 0; i < 100; ++i) errors.push_back((i % 2 == 0 ? 1 : -1) * 0.02 * i);
  // 80 % of the sizes are below 1.584 deviations, which is 1.236 times 1.2816.
  EXPECT_NEAR(interval_scale(errors), 1.584 / kInterval80, 1e-3);
}

TEST(IntervalScale, StaysWithinBoundsAndNeedsEvidence) {
  EXPECT_EQ(interval_scale(std::vector<double>(29, 9.0)), 1);
  EXPECT_EQ(interval_scale(std::vector<double>(30, 9.0)), 2);
  EXPECT_EQ(interval_scale(std::vector<double>(30, 0.0)), 0.5);
}

}  // namespace
}  // namespace stint
