#include "calibrate/device/shape_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// Shapes of all sizes whose time is 2 ms per GMAC and 1 ms per million activations.
std::vector<ShapeSample> made_up(int count) {
  std::vector<ShapeSample> samples;
  for (int i = 0; i < count; ++i) {
    // Steps of irrational ratios fill the ranges without a pattern.
    const auto part = [&](double step) { return i * step - std::floor(i * step); };
    ShapeSample sample{.gmacs = std::exp(4 * part(0.618)),
                       .activations_m = std::exp(1 + 3 * part(0.414)),
                       .parameters_m = std::exp(1 + 3 * part(0.732)),
                       .image_size = 128 + 256 * part(0.236),
                       .batch = std::exp(3 + 3 * part(0.162))};
    sample.seconds = 0.002 * sample.gmacs + 0.001 * sample.activations_m;
    samples.push_back(sample);
  }
  return samples;
}

TEST(ShapeFit, RecoversTwoConstants) {
  const TwoConstants found = fit_two_constants(made_up(50));
  EXPECT_NEAR(found.per_gmac, 0.002, 1e-9);
  EXPECT_NEAR(found.per_activation, 0.001, 1e-9);
}

TEST(ShapeFit, HasOneConstantWhereTheOtherWouldBeNegative) {
  std::vector<ShapeSample> samples = made_up(50);
  for (ShapeSample& it : samples) it.seconds = 0.01 * it.gmacs * std::pow(it.activations_m, -0.3);
  const TwoConstants found = fit_two_constants(samples);
  EXPECT_GT(found.per_gmac, 0);
  EXPECT_GE(found.per_activation, 0);
}

TEST(ShapeFit, PredictsWhatFollowsTheTwoConstants) {
  const auto samples = made_up(80);
  const auto fit = ShapeFit::fit(samples);
  ASSERT_TRUE(fit.ok());
  for (const ShapeSample& it : made_up(100)) {
    EXPECT_NEAR(fit->log_seconds(it), std::log(it.seconds), 0.01);
  }
}

// Times that grow with the square root of the intensity are beyond two constants.
TEST(ShapeFit, LearnsHowIntensityChangesTheUtilisation) {
  std::vector<ShapeSample> samples = made_up(400);
  for (ShapeSample& it : samples) it.seconds *= std::sqrt(it.gmacs / it.activations_m);
  const auto fit = ShapeFit::fit(samples);
  ASSERT_TRUE(fit.ok());
  double error = 0;
  double error_two = 0;
  for (const ShapeSample& it : samples) {
    error += std::abs(std::exp(fit->log_seconds(it)) / it.seconds - 1);
    error_two += std::abs(fit->constants().seconds(it) / it.seconds - 1);
  }
  EXPECT_LT(error / 400, 0.05);
  EXPECT_GT(error_two / 400, 0.1);
}

TEST(ShapeFit, AFewSlowModelsDoNotBendTheRest) {
  std::vector<ShapeSample> samples = made_up(200);
  for (std::size_t i = 0; i < samples.size(); i += 20) samples[i].seconds *= 10;
  const auto fit = ShapeFit::fit(samples);
  ASSERT_TRUE(fit.ok());
  double error = 0;
  for (std::size_t i = 1; i < samples.size(); i += 20) {
    error += std::abs(std::exp(fit->log_seconds(samples[i])) / samples[i].seconds - 1);
  }
  EXPECT_LT(error / 10, 0.1);
}

TEST(ShapeFit, NeedsTwoRows) { EXPECT_FALSE(ShapeFit::fit(made_up(1)).ok()); }

}  // namespace
}  // namespace stint
