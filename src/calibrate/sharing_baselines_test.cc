#include "calibrate/sharing_baselines.h"

#include <gtest/gtest.h>
#include <vector>

namespace stint {
namespace {

PackedPair pair_of(double first, double second, const std::string& device) {
  return {.first = {.job = {"a", 1}, .alone = 10 / kSecond, .packed = first / kSecond},
          .second = {.job = {"b", 1}, .alone = 1 / kSecond, .packed = second / kSecond},
          .device = device,
          .fits = true};
}

TEST(HalfSpeed, IsHalfOfEachRateAlone) {
  PackedPair pair = pair_of(9, 0.9, "K80");
  const auto rates = half_speed(pair);
  ASSERT_TRUE(rates.has_value());
  EXPECT_EQ(rates->first.median, 5 / kSecond);
  EXPECT_EQ(rates->second.median, 0.5 / kSecond);
  pair.second.alone.reset();
  EXPECT_FALSE(half_speed(pair).has_value());
}

// Shares of 0.9 and 0.4 have the geometric mean 0.6, and 0.3 and 0.3 have 0.3; all four
// √(0.6 · 0.3) = 0.424. Worked by hand.
TEST(MeanSlowdown, IsTheGeometricMeanOfTheDevice) {
  const std::vector<PackedPair> pairs{pair_of(9, 0.4, "K80"), pair_of(3, 0.3, "V100")};
  const MeanSlowdown model(pairs);
  const auto first_on = [&](const std::string& device) {
    return model.predict(pair_of(0, 0, device))->first.median.in(1 / kSecond);
  };
  EXPECT_NEAR(first_on("K80"), 6, 1e-9);
  EXPECT_NEAR(first_on("V100"), 3, 1e-9);
  EXPECT_NEAR(first_on("Abacus"), 4.24264, 1e-5);
}

TEST(MeanSlowdown, IsHalfSpeedWithoutPairs) {
  const MeanSlowdown model({});
  EXPECT_EQ(model.predict(pair_of(0, 0, "K80"))->second.median, 0.5 / kSecond);
}

}  // namespace
}  // namespace stint
