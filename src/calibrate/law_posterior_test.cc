#include "calibrate/law_posterior.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

// For 2a + 3b with variances 1 and 4 and covariance 0.5: 4 + 36 + 2 · 6 · 0.5 = 46.
TEST(PosteriorDeviation, FollowsTheCovariance) {
  const Fitted fitted{.values = {1, 2}, .covariance = {{1, 0.5}, {0.5, 4}}};
  const auto value = [](std::span<const double> x) { return 2 * x[0] + 3 * x[1]; };
  EXPECT_NEAR(posterior_deviation(fitted, value), std::sqrt(46.0), 1e-6);
}

// At x = 1 the derivative of eˣ is e.
TEST(PosteriorDeviation, TakesDerivativesAtTheFit) {
  const Fitted fitted{.values = {1}, .covariance = {{0.01}}};
  const auto value = [](std::span<const double> x) { return std::exp(x[0]); };
  EXPECT_NEAR(posterior_deviation(fitted, value), 0.1 * std::exp(1.0), 1e-6);
}

// Residuals 0.3 and −0.1 with a prior of 0.2 that counts two rows:
// √((0.09 + 0.01 + 0.08)/4) = √0.045.
TEST(RowDeviation, LiesBetweenResidualsAndPrior) {
  const std::array<double, 2> residuals{0.3, -0.1};
  EXPECT_NEAR(row_deviation(residuals, 0.2, 2), std::sqrt(0.045), 1e-12);
  EXPECT_NEAR(row_deviation({}, 0.2, 2), 0.2, 1e-12);
}

}  // namespace
}  // namespace stint
