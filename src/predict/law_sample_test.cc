#include "predict/law_sample.h"

#include <gtest/gtest.h>

#include "predict/predictor_fixture.h"

namespace stint {
namespace {

// [4 2; 2 10] = L Lᵀ with L = [2 0; 1 3].
TEST(LawSample, TheRootOfACovarianceIsItsCholeskyFactor) {
  const auto root = lower_root({{4, 2}, {2, 10}});
  EXPECT_DOUBLE_EQ(root[0][0], 2);
  EXPECT_DOUBLE_EQ(root[1][0], 1);
  EXPECT_DOUBLE_EQ(root[1][1], 3);
  EXPECT_DOUBLE_EQ(root[0][1], 0);
}

TEST(LawSample, ADirectionWithoutVarianceStaysWhereItIs) {
  const auto root = lower_root({{0, 0}, {0, 9}});
  EXPECT_EQ(root[0][0], 0);
  EXPECT_EQ(root[1][1], 3);
}

// Every constant of the fixture's fabric has a prior deviation of 0.1, and jobs differ by 0.2.
TEST(LawSample, DrawsScatterAsTheCalibrationSays) {
  const PredictFixture fixture;
  const LawSampler sampler(fixture.law, nullptr);
  Random random(5);
  double fabric = 0;
  double own = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const LawDraw drawn = sampler.draw(random);
    const double a = drawn.fabric.cost - fixture.law.fabric.cost;
    fabric += a * a / kDraws;
    own += drawn.own.crowding * drawn.own.crowding / kDraws;
    EXPECT_EQ(drawn.own.size, 0);
  }
  EXPECT_NEAR(fabric, 0.01, 0.001);
  EXPECT_NEAR(own, 0.04, 0.004);
}

}  // namespace
}  // namespace stint
