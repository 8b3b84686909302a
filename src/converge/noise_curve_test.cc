#include "converge/noise_curve.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

// At the recorded batch the curve passes through its records: half way between 100 and 400 the
// logarithms' mean is that of 200.
TEST(NoiseCurve, InterpolatesInProgress) {
  const NoisePoint points[] = {{.batch = 64, .progress = 1000, .scale = 400},
                               {.batch = 64, .progress = 0, .scale = 100}};
  const NoiseCurve curve(points);
  EXPECT_NEAR(curve.at(500, 64).scale, 200, 1e-9);
  EXPECT_NEAR(curve.at(-1, 64).scale, 100, 1e-9);
  EXPECT_NEAR(curve.at(2000, 64).scale, 400, 1e-9);
}

// One batch tells nothing about others: Φ grows as its square root, and at four times the batch the
// deviation is √(0.3² + (0.3 ln 4)²) = 0.513.
TEST(NoiseCurve, GrowsByTheStatedPowerWhereOneBatchWasRecorded) {
  const NoisePoint points[] = {{.batch = 64, .progress = 0, .scale = 100}};
  const NoiseCurve curve(points);
  EXPECT_NEAR(curve.at(0, 256).scale, 200, 1e-9);
  EXPECT_NEAR(curve.at(0, 64).deviation, 0.3, 1e-12);
  EXPECT_NEAR(curve.at(0, 256).deviation, std::hypot(0.3, 0.3 * std::log(4.0)), 1e-12);
}

// Batches 64 and 1024 with the same Φ: x = ± ln 4, Σx² = 2 ln²4 = 3.844, and with s = τ = 0.3 the
// power is 0.5/(3.844 + 1) = 0.1032 instead of 0.5.
TEST(NoiseCurve, LearnsThePowerFromSeveralBatches) {
  const NoisePoint points[] = {{.batch = 64, .progress = 0, .scale = 100},
                               {.batch = 1024, .progress = 0, .scale = 100}};
  const NoiseCurve curve(points);
  EXPECT_NEAR(curve.at(0, 256).scale, 100, 1e-9);
  const double power = 0.5 / (2 * std::log(4.0) * std::log(4.0) + 1);
  EXPECT_NEAR(curve.at(0, 1024).scale, 100 * std::pow(4, power), 1e-9);
  EXPECT_LT(curve.at(0, 256).deviation, curve.at(0, 1024).deviation);
  EXPECT_LT(curve.at(0, 1024).deviation, curve.at(0, 8192).deviation);
  EXPECT_EQ(curve.batch_min(), 64);
  EXPECT_EQ(curve.batch_max(), 1024);
}

TEST(NoiseCurve, TakesRecordsOfTheSameMoment) {
  const NoisePoint points[] = {{.batch = 64, .progress = 5, .scale = 100},
                               {.batch = 64, .progress = 5, .scale = 100},
                               {.batch = 64, .progress = 9, .scale = 100}};
  EXPECT_NEAR(NoiseCurve(points).at(7, 64).scale, 100, 1e-9);
}

}  // namespace
}  // namespace stint
