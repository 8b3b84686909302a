#include "plan/layout_estimate.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

LayoutEstimate estimate() {
  LayoutEstimate it{.layout = {.data = 8, .zero = 3}, .mean = 3 * kSecond, .p10 = 2 * kSecond};
  it.p90 = 4 * kSecond;
  it.parts.forward = 1 * kSecond;
  it.parts.backward = 2 * kSecond;
  it.p_fits = 0.9;
  return it;
}

TEST(LayoutEstimate, PartsAddUp) {
  LayoutEstimate it = estimate();
  EXPECT_EQ(problem(it), "");
  it.parts.bubble = 1 * kSecond;
  EXPECT_EQ(problem(it), "the parts must add up to the mean");
  it.p10 = 5 * kSecond;
  EXPECT_EQ(problem(it), "the mean must lie between p10 and p90");
}

TEST(LayoutEstimate, EveryPartHasAName) { EXPECT_EQ(layout_parts().size(), 9U); }

}  // namespace
}  // namespace stint
