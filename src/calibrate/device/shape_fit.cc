#include "calibrate/device/shape_fit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "solver/dense_lu.h"

namespace stint {
namespace {

// Weight of the squares of coefficients, in errors of samples: of 5, 12 and 30 the error of unseen
// families of timm's training table changes by 0.2 points.
constexpr double kRidge = 12;
constexpr int kRounds = 6;           // Of reweighting.
constexpr double kSmallError = 0.1;  // Smaller errors weigh as if they were this large.
constexpr double kLargeLog = 3;      // Errors beyond a factor of e³ weigh as this one.

using Terms = std::array<double, kShapeTerms>;

/// Turns a square of the error of a logarithm into the relative error of the value.
double weight_of(double residual) {
  const double bounded = std::clamp(residual, -kLargeLog, kLargeLog);
  return kSmallError * std::abs(std::expm1(bounded)) /
         std::max(bounded * bounded, kSmallError * kSmallError);
}

/// Solves (Σ w φ φᵀ + λ I) c = Σ w φ y; the constant term is not penalised.
Terms ridge(std::span<const Terms> rows, std::span<const double> values,
            std::span<const double> weights) {
  std::vector<double> matrix(kShapeTerms * kShapeTerms, 0);
  Terms right{};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t i = 0; i < kShapeTerms; ++i) {
      const double weighted = weights[k] * rows[k][i];
      right[i] += weighted * values[k];
      for (std::size_t j = 0; j <= i; ++j) matrix[j * kShapeTerms + i] += weighted * rows[k][j];
    }
  }
  for (std::size_t i = 0; i < kShapeTerms; ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[i * kShapeTerms + j] = matrix[j * kShapeTerms + i];
    matrix[i * kShapeTerms + i] += i == 0 ? 1e-6 : kRidge;
  }
  constexpr int kSize = static_cast<int>(kShapeTerms);
  const DenseMatrix dense{.size = kSize, .stride = kSize, .cells = matrix.data()};
  std::array<int, kShapeTerms> pivots{};
  const int missing = lu_factorise(dense, pivots.data());
  CHECK(missing == 0);  // The ridge makes the matrix positive definite.
  lu_solve(dense, pivots.data(), false, right.data());
  return right;
}

double product(const Terms& a, const Terms& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kShapeTerms; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double TwoConstants::seconds(const ShapeSample& sample) const {
  return per_gmac * sample.gmacs + per_activation * sample.activations_m;
}

TwoConstants fit_two_constants(std::span<const ShapeSample> samples) {
  CHECK(!samples.empty());
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a = 0;
  double b = 0;
  for (const ShapeSample& sample : samples) {
    const double x = sample.gmacs / sample.seconds;
    const double y = sample.activations_m / sample.seconds;
    aa += x * x;
    ab += x * y;
    bb += y * y;
    a += x;
    b += y;
  }
  const double determinant = aa * bb - ab * ab;
  if (determinant > 1e-12 * aa * bb) {
    const TwoConstants both{.per_gmac = (a * bb - b * ab) / determinant,
                            .per_activation = (b * aa - a * ab) / determinant};
    if (both.per_gmac > 0 && both.per_activation > 0) return both;
  }
  // One constant: the one that leaves the smaller squares.
  if (a * a / aa >= b * b / bb) return {.per_gmac = a / aa};
  return {.per_activation = b / bb};
}

ShapeFit::Logs ShapeFit::logs_of(const ShapeSample& it) {
  return {std::log(it.gmacs), std::log(it.gmacs / it.activations_m),
          std::log(it.gmacs / it.parameters_m), std::log(it.activations_m * it.batch),
          std::log(it.image_size)};
}

Terms ShapeFit::terms_of(const ShapeSample& sample) const {
  Logs x = logs_of(sample);
  for (std::size_t i = 0; i < kLogs; ++i) x[i] = (x[i] - mean_[i]) / deviation_[i];
  Terms terms{};
  std::size_t k = 0;
  terms[k++] = 1;
  for (const double it : x) terms[k++] = it;
  for (std::size_t i = 0; i < kLogs; ++i) {
    for (std::size_t j = i; j < kLogs; ++j) terms[k++] = x[i] * x[j];
  }
  CHECK(k == kShapeTerms);
  return terms;
}

Result<ShapeFit> ShapeFit::fit(std::span<const ShapeSample> samples) {
  if (samples.size() < 2) return bad_input("a fit to shapes needs two rows or more");
  ShapeFit fit;
  fit.constants_ = fit_two_constants(samples);
  const auto n = static_cast<double>(samples.size());
  Logs squares{};
  for (const ShapeSample& sample : samples) {
    const Logs x = logs_of(sample);
    for (std::size_t i = 0; i < kLogs; ++i) {
      fit.mean_[i] += x[i] / n;
      squares[i] += x[i] * x[i] / n;
    }
  }
  for (std::size_t i = 0; i < kLogs; ++i) {
    const double variance = squares[i] - fit.mean_[i] * fit.mean_[i];
    fit.deviation_[i] = variance > 1e-9 ? std::sqrt(variance) : 1;
  }
  std::vector<Terms> rows;
  std::vector<double> values;
  for (const ShapeSample& sample : samples) {
    rows.push_back(fit.terms_of(sample));
    values.push_back(std::log(sample.seconds / fit.constants_.seconds(sample)));
  }
  std::vector<double> weights(samples.size(), 1);
  for (int round = 0; round < kRounds; ++round) {
    fit.coefficients_ = ridge(rows, values, weights);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      weights[k] = weight_of(product(fit.coefficients_, rows[k]) - values[k]);
    }
  }
  return fit;
}

double ShapeFit::log_seconds(const ShapeSample& sample) const {
  return log_seconds(sample, constants_);
}

double ShapeFit::log_seconds(const ShapeSample& sample, const TwoConstants& constants) const {
  return std::log(constants.seconds(sample)) + product(coefficients_, terms_of(sample));
}

}  // namespace stint
