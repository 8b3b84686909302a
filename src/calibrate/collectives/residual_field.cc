#include "calibrate/collectives/residual_field.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

// Chosen on all five shared tables by leaving out sizes and numbers of GPUs.
constexpr double kCurve = 0.13;          // a: bumps of NCCL's protocols.
constexpr double kCurveLength = 2.5;     // l: e-folds of size.
constexpr double kOffset = 0.1;          // b: of a cluster size.
constexpr double kMeshOffset = 0.35;     // In a mesh, whose wiring decides.
constexpr double kBetweenOffset = 0.15;  // Between VMs, of which there are 2 to 128.
constexpr double kCountLength = 1.5;     // k: doublings of workers.
constexpr double kSizeQuirk = 0.03;      // q.
constexpr double kJobsQuirk = 0.35;      // q of medians over jobs of two precisions.
constexpr double kQuirkLength = 4;       // m: doublings of workers.
constexpr double kOtherCurve = 0.3;      // r between collectives.
constexpr double kOtherQuirk = 0.5;      // r'.
constexpr double kNoise = 0.03;          // Repeats of a benchmark.
constexpr double kSameSize = 1e-9;       // Of logarithms.

// More rows than these hardly change an estimate and cost their cube.
constexpr std::size_t kNearest = 32;
constexpr double kNegligible = 1e-6;

// Beyond this a deviation says that the figures of the system are wrong, not more.
constexpr double kResidualMax = 1.5;

double offset_of(const FieldPoint& it) {
  if (it.irregular) return kMeshOffset;
  return it.crosses ? kBetweenOffset : kOffset;
}

double quirk_of(const FieldPoint& it) { return it.many_jobs ? kJobsQuirk : kSizeQuirk; }

double covariance(const FieldPoint& a, const FieldPoint& b) {
  if (a.system != b.system || a.crosses != b.crosses) return 0;
  const bool same = a.collective == b.collective;
  const double size = std::abs(a.size_log - b.size_log);
  const double count = std::abs(a.workers_log2 - b.workers_log2);
  const double near = std::exp(-count / kCountLength);
  const double d = std::sqrt(3.0) * size / kCurveLength;
  double sum = kCurve * kCurve * (1 + d) * std::exp(-d) * near * (same ? 1 : kOtherCurve);
  if (same) sum += offset_of(a) * offset_of(b) * near;
  if (size < kSameSize) {
    sum += quirk_of(a) * quirk_of(b) * std::exp(-count / kQuirkLength) * (same ? 1 : kOtherQuirk);
  }
  return sum;
}

/// Solves A x = b for a symmetric positive definite A, by Cholesky, in place.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    CHECK(a[j][j] > 0);
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

bool same_curve(const FieldPoint& a, const FieldPoint& b) {
  return a.system == b.system && a.collective == b.collective && a.crosses == b.crosses &&
         a.workers_log2 == b.workers_log2;
}

ResidualField::ResidualField(std::vector<FieldPoint> points, std::vector<double> residuals)
    : points_(std::move(points)), residuals_(std::move(residuals)) {
  CHECK(points_.size() == residuals_.size());
}

FieldEstimate ResidualField::at(const FieldPoint& point, const Skip& skip) const {
  FieldEstimate estimate{.variance = covariance(point, point) + kNoise * kNoise};
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (skip && skip(i)) continue;
    const double common = covariance(point, points_[i]);
    if (common < kNegligible) continue;
    estimate.same_curve = estimate.same_curve || same_curve(point, points_[i]);
    near.emplace_back(-common, i);
  }
  if (near.empty()) return estimate;
  const std::size_t n = std::min(kNearest, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(n), near.end());
  std::vector<std::vector<double>> matrix(n, std::vector<double>(n));
  std::vector<double> common(n);
  for (std::size_t i = 0; i < n; ++i) {
    common[i] = -near[i].first;
    for (std::size_t j = 0; j <= i; ++j) {
      matrix[i][j] = covariance(points_[near[i].second], points_[near[j].second]);
    }
    matrix[i][i] += kNoise * kNoise;
  }
  const std::vector<double> weights = solved(std::move(matrix), common);
  for (std::size_t i = 0; i < n; ++i) {
    estimate.mean +=
        weights[i] * std::clamp(residuals_[near[i].second], -kResidualMax, kResidualMax);
    estimate.variance -= weights[i] * common[i];
  }
  estimate.variance = std::max(estimate.variance, kNoise * kNoise);
  return estimate;
}

}  // namespace stint
