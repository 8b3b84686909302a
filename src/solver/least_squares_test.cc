#include "solver/least_squares.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace stint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Unknown kFree{.prior_deviation = kInfinity};

struct Point {
  double x = 0;
  double y = 0;
};

/// y = x[0] + x[1] · point.x, each row with the same deviation.
LeastSquares line_through(std::vector<Point> points, double deviation = 1) {
  const std::size_t rows = points.size();
  return {.unknowns = {kFree, kFree},
          .rows = rows,
          .residuals = [points = std::move(points), deviation](std::span<const double> x,
                                                               std::span<double> residuals) {
            for (std::size_t i = 0; i < points.size(); ++i) {
              residuals[i] = (x[0] + x[1] * points[i].x - points[i].y) / deviation;
            }
          }};
}

/// One unknown, measured directly.
LeastSquares mean_of(std::vector<double> values, Unknown unknown) {
  const std::size_t rows = values.size();
  return {.unknowns = {unknown},
          .rows = rows,
          .residuals = [values = std::move(values)](std::span<const double> x,
                                                    std::span<double> residuals) {
            for (std::size_t i = 0; i < values.size(); ++i) residuals[i] = x[0] - values[i];
          }};
}

// Through (0, 1), (1, 3), (2, 4), (3, 4): means 1.5 and 3; slope = Σ(x − 1.5)(y − 3) / Σ(x − 1.5)²
// = (3 + 0 + 0.5 + 1.5) / 5 = 1; intercept = 3 − 1.5 = 1.5. Residuals 0.5, −0.5, −0.5, 0.5: half
// the sum of squares is 0.5.
TEST(LeastSquares, FitsALineAsByHand) {
  const auto fitted = fit(line_through({{0, 1}, {1, 3}, {2, 4}, {3, 4}}));
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->values[0], 1.5, 1e-7);
  EXPECT_NEAR(fitted->values[1], 1.0, 1e-7);
  EXPECT_NEAR(fitted->cost, 0.5, 1e-12);
  EXPECT_TRUE(fitted->converged);
  EXPECT_GT(fitted->iterations, 0);
}

// The same line with deviation 2: var(slope) = 4 / Σ(x − 1.5)² = 4/5; var(intercept) =
// 4 (1/4 + 1.5²/5) = 2.8; cov = −1.5 · 4/5 = −1.2.
TEST(LeastSquares, GivesTheTextbookCovarianceOfALine) {
  const auto fitted = fit(line_through({{0, 1}, {1, 3}, {2, 4}, {3, 4}}, 2));
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->covariance[0][0], 2.8, 1e-8);
  EXPECT_NEAR(fitted->covariance[1][1], 0.8, 1e-8);
  EXPECT_NEAR(fitted->covariance[0][1], -1.2, 1e-8);
  EXPECT_NEAR(fitted->covariance[1][0], -1.2, 1e-8);
  EXPECT_EQ(fitted->identified, (std::vector<bool>{true, true}));
}

TEST(LeastSquares, StaysAtThePriorWithoutData) {
  LeastSquares problem;
  problem.unknowns = {{.prior_mean = 3, .prior_deviation = 0.5, .start = -10}};
  const auto fitted = fit(problem);
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->values[0], 3, 1e-9);
  EXPECT_NEAR(fitted->covariance[0][0], 0.25, 1e-12);
  EXPECT_EQ(fitted->identified, (std::vector<bool>{false}));
}

// Prior 0 ± 1 and one measurement 4 ± 1 weigh the same: 2, with variance 1/2. The prior is
// narrowed to 0.71 of itself. One of 0 ± 0.1 is narrowed to 0.995 only.
TEST(LeastSquares, WeighsThePriorAgainstTheData) {
  const auto even = fit(mean_of({4}, {.prior_mean = 0, .prior_deviation = 1}));
  ASSERT_TRUE(even.ok());
  EXPECT_NEAR(even->values[0], 2, 1e-7);
  EXPECT_NEAR(even->covariance[0][0], 0.5, 1e-9);
  EXPECT_TRUE(even->identified[0]);
  EXPECT_NEAR(even->cost, 0.5 * (4 + 4), 1e-9);

  const auto firm = fit(mean_of({4}, {.prior_mean = 0, .prior_deviation = 0.1}));
  ASSERT_TRUE(firm.ok());
  EXPECT_NEAR(firm->values[0], 4 * 0.01 / 1.01, 1e-7);
  EXPECT_FALSE(firm->identified[0]);
}

// Nine values at 0 and one at 1000: the mean is 100. With c = 1 a far row costs about c |r| and
// pulls with c = 1; the nine near ones cost x²/2 each and pull back with 9 x: x is about 1/9.
TEST(LeastSquares, IsHardlyMovedByAnOutlierWhenRobust) {
  std::vector<double> values(9, 0.0);
  values.push_back(1000);
  LeastSquares problem = mean_of(values, kFree);
  const auto plain = fit(problem);
  ASSERT_TRUE(plain.ok());
  EXPECT_NEAR(plain->values[0], 100, 1e-6);
  problem.robust_beyond = 1;
  const auto robust = fit(problem);
  ASSERT_TRUE(robust.ok());
  EXPECT_NEAR(robust->values[0], 1.0 / 9, 2e-3);
  EXPECT_TRUE(robust->converged);
}

// One row of residual 3 with c = 4: ρ(9) = 2 · 16 · (√(1 + 9/16) − 1) = 32 · 0.25 = 8; half is 4.
TEST(LeastSquares, CountsTheRobustLossInItsCost) {
  LeastSquares problem;
  problem.rows = 1;
  problem.residuals = [](std::span<const double>, std::span<double> residuals) {
    residuals[0] = -3;
  };
  problem.robust_beyond = 4;
  const auto fitted = fit(problem);
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->cost, 4, 1e-12);
}

TEST(LeastSquares, KeepsTheBoundsAndNeverAsksBeyondThem) {
  double least = 0;
  double most = 0;
  LeastSquares problem;
  problem.unknowns = {
      {.prior_deviation = kInfinity, .start = 0.5, .min = 0, .max = 1},
      {.prior_deviation = kInfinity, .start = 0.5, .min = 0, .max = 1},
  };
  problem.rows = 2;
  problem.residuals = [&](std::span<const double> x, std::span<double> residuals) {
    for (std::size_t i = 0; i < 2; ++i) {
      least = std::min(least, x[i]);
      most = std::max(most, x[i]);
    }
    residuals[0] = x[0] - 7;
    residuals[1] = x[1] + 7;
  };
  const auto fitted = fit(problem);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(fitted->values, (std::vector<double>{1, 0}));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 1);
}

// Only the sum of the two is measured; the third is measured by itself.
TEST(LeastSquares, SaysWhatTheDataDoNotTell) {
  LeastSquares problem;
  problem.unknowns = {kFree, kFree, kFree, kFree};
  problem.rows = 2;
  problem.residuals = [](std::span<const double> x, std::span<double> residuals) {
    residuals[0] = x[0] + x[1] - 5;
    residuals[1] = 2 * (x[2] - 8);
  };
  const auto fitted = fit(problem);
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->values[0] + fitted->values[1], 5, 1e-8);
  EXPECT_EQ(fitted->identified, (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(fitted->covariance[0][0], kInfinity);
  EXPECT_NEAR(fitted->covariance[2][2], 0.25, 1e-9);
  EXPECT_EQ(fitted->covariance[3][3], kInfinity);
}

TEST(LeastSquares, NamesTheRowThatIsNotFiniteAtTheStart) {
  LeastSquares problem = mean_of({1, 2, std::nan(""), 4}, kFree);
  const auto fitted = fit(problem);
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().message,
            "cannot fit: row 2 of 4 (the first is 0) is not a finite number at the start");
}

// log x leaves the numbers where a step overshoots below zero; the root of log x is 1. The first
// Gauss-Newton step from 10 leads to 10 − 10 · log 10 = −13.
TEST(LeastSquares, StepsBackFromWhereResidualsAreNotFiniteWithoutAWord) {
  LeastSquares problem;
  problem.unknowns = {{.prior_deviation = kInfinity, .start = 10}};
  problem.rows = 1;
  problem.residuals = [](std::span<const double> x, std::span<double> residuals) {
    residuals[0] = std::log(x[0]);
  };
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const auto fitted = fit(problem);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(fitted.ok()) << fitted.error().message;
  EXPECT_NEAR(fitted->values[0], 1, 1e-9);
}

// Unknowns of very different size: y = a e^(−b t) with a = 1e9 and b = 1e-6.
TEST(LeastSquares, FitsUnknownsOfVeryDifferentSize) {
  LeastSquares problem;
  problem.unknowns = {
      {.prior_mean = 0, .prior_deviation = 1e12, .start = 5e8},
      {.prior_mean = 0, .prior_deviation = 1e-3, .start = 5e-7},
  };
  problem.rows = 20;
  problem.residuals = [](std::span<const double> x, std::span<double> residuals) {
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      const double time = 1e5 * static_cast<double>(i);
      residuals[i] = (x[0] * std::exp(-x[1] * time) - 1e9 * std::exp(-1e-6 * time)) / 1e5;
    }
  };
  const auto fitted = fit(problem);
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->values[0] / 1e9, 1, 1e-6);
  EXPECT_NEAR(fitted->values[1] / 1e-6, 1, 1e-6);
}

TEST(LeastSquares, StopsAtTheLimitOfIterationsAndSaysSo) {
  LeastSquares problem;
  problem.unknowns = {{.prior_deviation = kInfinity, .start = 5}};
  problem.rows = 1;
  problem.iterations_max = 2;
  problem.residuals = [](std::span<const double> x, std::span<double> residuals) {
    residuals[0] = std::exp(x[0]);
  };
  const auto fitted = fit(problem);
  ASSERT_TRUE(fitted.ok());
  EXPECT_FALSE(fitted->converged);
  EXPECT_LE(fitted->iterations, 2);
}

}  // namespace
}  // namespace stint
