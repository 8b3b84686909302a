#include "converge/noise.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

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

constexpr double kEightInTen = 1.2815515655446004;

// Two workers of 2 samples with ‖g‖² = 5 and 7, ‖ḡ‖² = 4: σ̂² = 4/(2 − 1) · (6 − 4) = 8 and
// Ĝ² = (2 · 4 − 6)/(2 − 1) = 2, by the formulas for even batches.
TEST(GradientMoments, MatchTheFormulasForEvenBatches) {
  const WorkerGradient workers[] = {{.batch = 2, .square = 5}, {.batch = 2, .square = 7}};
  const GradientMoments moments = gradient_moments(workers, 4);
  EXPECT_DOUBLE_EQ(moments.variance, 8);
  EXPECT_DOUBLE_EQ(moments.square, 2);
}

// Batches 1 and 3: mean(1/b) − 1/B = 2/3 − 1/4 = 5/12, so σ̂² = 2 / (5/12) = 4.8 and
// Ĝ² = 4 − 4.8/4 = 2.8.
TEST(GradientMoments, TakeUnevenBatches) {
  const WorkerGradient workers[] = {{.batch = 1, .square = 5}, {.batch = 3, .square = 7}};
  const GradientMoments moments = gradient_moments(workers, 4);
  EXPECT_DOUBLE_EQ(moments.variance, 4.8);
  EXPECT_DOUBLE_EQ(moments.square, 2.8);
}

// Gradients in 20 dimensions: the true one is 0.5 in each (G² = 5), a sample's deviates by 3 in
// each (σ² = 180), so Φ = 36.
constexpr int kDimensions = 20;
constexpr double kSquare = 5;
constexpr double kVariance = 180;
constexpr double kScale = 36;

GradientMoments synthetic_step(Random& random, const std::vector<double>& batches) {
  std::vector<WorkerGradient> workers;
  std::vector<double> mean(kDimensions, 0);
  double all = 0;
  for (const double batch : batches) all += batch;
  for (const double batch : batches) {
    WorkerGradient worker{.batch = batch};
    for (double& coordinate : mean) {
      const double value = 0.5 + 3 / std::sqrt(batch) * random.normal();
      worker.square += value * value;
      coordinate += value * batch / all;
    }
    workers.push_back(worker);
  }
  double mean_square = 0;
  for (const double coordinate : mean) mean_square += coordinate * coordinate;
  return gradient_moments(workers, mean_square);
}

/// A mean over seeds and its standard error.
struct Average {
  double sum = 0;
  double squares = 0;
  double count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    count += 1;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(squares / count - mean() * mean()); }
  double error() const { return deviation() / std::sqrt(count); }
};

class SyntheticGradients : public testing::TestWithParam<std::vector<double>> {};

// Seeds 0 to 199, of 200 steps each. The bias of Φ is held against the standard error of one run.
TEST_P(SyntheticGradients, GiveUnbiasedMomentsAndAnHonestInterval) {
  Average variance;
  Average square;
  Average scale;
  Average covered;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    NoiseEstimator estimator;
    for (int step = 0; step < 200; ++step) estimator.add(synthetic_step(random, GetParam()));
    const NoiseScale noise = estimator.estimate(kEightInTen);
    variance.add(noise.mean.variance);
    square.add(noise.mean.square);
    ASSERT_TRUE(noise.scale.has_value());
    ASSERT_TRUE(noise.upper.has_value());
    scale.add(*noise.scale);
    covered.add(noise.lower <= kScale && kScale <= *noise.upper ? 1 : 0);
  }
  EXPECT_NEAR(variance.mean(), kVariance, 3 * variance.error());
  EXPECT_NEAR(square.mean(), kSquare, 3 * square.error());
  EXPECT_NEAR(scale.mean(), kScale, scale.deviation());
  // Of 200 at 80 % the standard error is 2.8 %.
  EXPECT_NEAR(covered.mean(), 0.8, 0.08);
}

INSTANTIATE_TEST_SUITE_P(EvenAndUneven, SyntheticGradients,
                         testing::Values(std::vector<double>{16, 16, 16, 16},
                                         std::vector<double>{4, 8, 20, 32},
                                         std::vector<double>{8, 56}));

// The mean of per-step quotients of the same steps is far off, which is why sums are divided.
TEST(NoiseEstimator, DividesSumsBecauseAMeanOfQuotientsIsBiased) {
  Random random(1);
  double quotients = 0;
  for (int step = 0; step < 1000; ++step) {
    const GradientMoments it = synthetic_step(random, {4, 4});
    quotients += it.variance / it.square / 1000;
  }
  EXPECT_GT(std::fabs(quotients - kScale), 0.2 * kScale);
}

// Three steps with Ĝ² of −1, 0 and 1 do not tell whether there is a gradient at all.
TEST(NoiseEstimator, GivesOnlyALowerBoundWhereTheGradientDrowns) {
  NoiseEstimator estimator;
  estimator.add({.variance = 10, .square = -1});
  estimator.add({.variance = 11, .square = 0});
  estimator.add({.variance = 12, .square = 1});
  const NoiseScale noise = estimator.estimate(kEightInTen);
  EXPECT_FALSE(noise.scale.has_value());
  EXPECT_FALSE(noise.upper.has_value());
  // With f = 1.6424/(3 · 2) the quadratic is −2f Φ² + 4f Φ + 121 − 2f: its positive root is
  // 1 + √(1 + (121 − 2f)/(2f)) = 1 + √(121/(2f)) = 15.87.
  EXPECT_NEAR(noise.lower, 1 + std::sqrt(121 / (2 * 1.642374 / 6)), 1e-3);
}

// Steps that are all alike leave no doubt: Φ = 12/3.
TEST(NoiseEstimator, HasAnIntervalOfNoWidthWithoutSpread) {
  NoiseEstimator estimator;
  estimator.add({.variance = 12, .square = 3});
  estimator.add({.variance = 12, .square = 3});
  const NoiseScale noise = estimator.estimate(kEightInTen);
  EXPECT_DOUBLE_EQ(noise.scale.value(), 4);
  EXPECT_DOUBLE_EQ(noise.lower, 4);
  EXPECT_DOUBLE_EQ(noise.upper.value(), 4);
}

// B = 64, K = 4, Φ = 64: γ = (64 + 256)/128 = 2.5, and back 64 · 1.5/1.5 = 64.
TEST(GradientRatio, CarriesTheSameInformationAsTheNoiseScale) {
  EXPECT_DOUBLE_EQ(gradient_ratio(64, 64, 4), 2.5);
  EXPECT_DOUBLE_EQ(noise_scale_of_ratio(2.5, 64, 4).value(), 64);
  EXPECT_FALSE(noise_scale_of_ratio(4, 64, 4).has_value());
  EXPECT_FALSE(noise_scale_of_ratio(0.9, 64, 4).has_value());
}

}  // namespace

}  // namespace stint
