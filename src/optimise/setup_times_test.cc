#include "optimise/setup_times.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

std::vector<PredictedSetup> four_setups() {
  return {{.time = 1 * kSecond, .deviation = 0.2, .type = 0, .vms = 1, .batch = 32},
          {.time = 2 * kSecond, .deviation = 0.2, .type = 0, .vms = 2, .batch = 32},
          {.time = 3 * kSecond, .deviation = 0.2, .type = 1, .vms = 1, .batch = 32},
          {.time = 4 * kSecond, .deviation = 0.0, .type = 1, .vms = 1, .batch = 64}};
}

TEST(PredictedTimes, BeginsWithThePredictionsAndTheirDeviations) {
  const PredictedTimes times(four_setups());
  EXPECT_DOUBLE_EQ(times.belief().mean[1], std::log(2.0));
  EXPECT_NEAR(times.belief().variance(0), 0.04, 1e-12);
  EXPECT_NEAR(times.belief().variance(3), 0.0025, 1e-12);  // Not surer than kDeviationMin.
  // Of one type, twice the machines: 0.04 (0.4 + 0.3 + 0.3 / 2) = 0.034; of two: 0.04 x 0.4.
  EXPECT_NEAR(times.belief().between(0, 1), 0.034, 1e-12);
  EXPECT_NEAR(times.belief().between(0, 2), 0.016, 1e-12);
}

// 1.5 s instead of 1: ln 1.5 = 0.4055. The second follows with 0.034/(0.04 + 0.0001) = 0.848 of
// that, the third with 0.016/0.0401 = 0.399.
TEST(PredictedTimes, HowFarOneIsOffTellsOfTheOthers) {
  PredictedTimes times(four_setups());
  ASSERT_TRUE(times.learn(0, 1.5 * kSecond).ok());
  EXPECT_NEAR(times.belief().mean[0], std::log(1.5), 0.002);
  EXPECT_NEAR(times.belief().mean[1], std::log(2.0) + 0.848 * 0.4055, 0.001);
  EXPECT_NEAR(times.belief().mean[2], std::log(3.0) + 0.399 * 0.4055, 0.001);
  EXPECT_LT(times.belief().variance(0), 0.0002);
  EXPECT_NEAR(times.belief().variance(1), 0.04 - 0.034 * 0.034 / 0.0401, 1e-6);
}

TEST(PredictedTimes, ASetupThatIsTimedAgainIsAsItWasTimedLast) {
  PredictedTimes times(four_setups());
  ASSERT_TRUE(times.learn(0, 1.5 * kSecond).ok());
  ASSERT_TRUE(times.learn(0, 1 * kSecond).ok());
  EXPECT_NEAR(times.belief().mean[1], std::log(2.0), 1e-9);
}

}  // namespace
}  // namespace stint
