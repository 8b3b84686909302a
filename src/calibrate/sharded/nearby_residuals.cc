#include "calibrate/sharded/nearby_residuals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kSpread = 0.08;  // Deviation of what the law misses,
constexpr double kNoise = 0.025;  // and of single rows around that.

constexpr double kFreedom = 4;  // Of Student's t.
constexpr int kRounds = 3;      // Of weighing rows by what their neighbours say.

/// Logarithms to base two, each over its length scale.
std::array<double, 9> features_of(const ShardedRow& row, double layout) {
  const ParallelLayout& it = row.layout;
  const double size = row.shape.layers * row.shape.hidden * row.shape.hidden;
  return {std::log2(row.gpus) / 2,
          std::log2(row.global_batch) / 2,
          std::log2(row.sequence) / 1.5,
          std::log2(size) / 3,
          std::log2(it.tensor) / layout,
          std::log2(it.pipeline) / layout,
          std::log2(it.virtual_stages) / (2 * layout),
          std::log2(it.context) / layout,
          std::log2(it.micro_batch) / (1.5 * layout)};
}

/// The product of the factors of what differs.
double alike(const ShardedRow& a, const ShardedRow& b) {
  if (a.table != b.table) return 0;
  double factor = 1;
  if (a.job != b.job) factor *= 0.7;
  if (a.software != b.software) factor *= 0.7;
  if (a.gpu != b.gpu) factor *= 0.5;
  if (a.fp8 != b.fp8) factor *= 0.5;
  if (a.adapters != b.adapters) factor *= 0.3;
  if (a.layout.zero != b.layout.zero) factor *= 0.5;
  if (a.layout.hybrid != b.layout.hybrid) factor *= 0.5;
  if (a.layout.recompute != b.layout.recompute) factor *= 0.5;
  if (a.layout.expert != b.layout.expert) factor *= 0.5;
  if (a.offloads_update != b.offloads_update) factor *= 0.3;
  if (a.odd_placement != b.odd_placement) factor *= 0.3;
  if (a.compiled != b.compiled) factor *= 0.5;
  return factor;
}

using Matrix = std::vector<std::vector<double>>;

/// Solves L x = b.
std::vector<double> forward_solved(const Matrix& root, std::vector<double> b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) b[i] -= root[i][j] * b[j];
    b[i] /= root[i][i];
  }
  return b;
}

/// Solves Lᵀ x = b.
std::vector<double> backward_solved(const Matrix& root, std::vector<double> b) {
  for (std::size_t i = b.size(); i-- > 0;) {
    b[i] /= root[i][i];
    for (std::size_t j = 0; j < i; ++j) b[j] -= root[i][j] * b[i];
  }
  return b;
}

/// The lower triangle L of `sums` plus the noise of each row; the noise keeps its diagonal above
/// zero.
Matrix cholesky(const Matrix& sums, const std::vector<double>& noise) {
  Matrix root;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::vector<double> line(i + 1);
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = sums[i][j] + (i == j ? noise[i] : 0);
      const std::vector<double>& above = j < i ? root[j] : line;
      for (std::size_t k = 0; k < j; ++k) sum -= line[k] * above[k];
      line[j] = i == j ? std::sqrt(std::max(sum, kNoise * kNoise / 2)) : sum / root[j][j];
    }
    root.push_back(std::move(line));
  }
  return root;
}

/// What is wrong when a row is predicted from all others, and the variance of that.
struct LeftOut {
  double error = 0;
  double variance = 0;
};

/// By error_i = (K⁻¹ r)_i / (K⁻¹)_ii and variance_i = 1 / (K⁻¹)_ii (Rasmussen & Williams, 5.4.2).
std::vector<LeftOut> left_out(const Matrix& root, const std::vector<double>& residuals) {
  const std::vector<double> weights = backward_solved(root, forward_solved(root, residuals));
  std::vector<LeftOut> result;
  std::vector<double> column(root.size());
  for (std::size_t i = 0; i < root.size(); ++i) {
    double diagonal = 0;
    for (std::size_t j = i; j < root.size(); ++j) {
      double sum = i == j ? 1 : 0;
      for (std::size_t k = i; k < j; ++k) sum -= root[j][k] * column[k];
      column[j] = sum / root[j][j];
      diagonal += column[j] * column[j];
    }
    result.push_back({.error = weights[i] / diagonal, .variance = 1 / diagonal});
  }
  return result;
}

/// The root of `sums` with noise; where it is robust, with more on rows that their neighbours
/// contradict:
///
///   noise_i² = noise² max(1, (ν + z²) / (ν + 1))²,  z = error_i / deviation_i when left out
Matrix covariance_root(const Matrix& sums, const std::vector<double>& residuals, bool robust) {
  std::vector<double> noise(sums.size(), kNoise * kNoise);
  Matrix root = cholesky(sums, noise);
  for (int round = 0; robust && round < kRounds; ++round) {
    const std::vector<LeftOut> all = left_out(root, residuals);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double variance = std::max(all[i].variance - noise[i], 0.0) + kNoise * kNoise;
      const double square = all[i].error * all[i].error / variance;
      const double share = std::max(1.0, (kFreedom + square) / (kFreedom + 1));
      noise[i] = kNoise * kNoise * share * share;
    }
    root = cholesky(sums, noise);
  }
  return root;
}

std::string job_key(const ShardedRow& row) { return fmt::format("{}: {}", row.table, row.job); }

/// At most `most` of the items, evenly taken.
template <class Item>
std::vector<Item> evenly(const std::vector<Item>& items, std::size_t most) {
  std::vector<Item> some;
  const std::size_t step = items.size() / (most + 1) + 1;
  for (std::size_t i = 0; i < items.size(); i += step) some.push_back(items[i]);
  return some;
}

}  // namespace

double NearbyResiduals::beyond_middle(const Neighbour& it) const {
  const auto middle = middles_.find(job_key(it.row));
  return middle == middles_.end() ? 0 : it.cost - middle->second;
}

double NearbyResiduals::kernel(const Neighbour& a, const Neighbour& b) const {
  const double factor = alike(a.row, b.row);
  if (factor == 0) return 0;
  const auto x = features_of(a.row, scales_.layout);
  const auto y = features_of(b.row, scales_.layout);
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) square += (x[i] - y[i]) * (x[i] - y[i]);
  return kSpread * kSpread * factor * std::exp(-square / 2) +
         scales_.slope * scales_.slope * beyond_middle(a) * beyond_middle(b);
}

NearbyResiduals::NearbyResiduals(const std::vector<Neighbour>& rows,
                                 const std::vector<double>& residuals,
                                 const NeighbourScales& scales)
    : scales_(scales), rows_(evenly(rows, kRowsMost)), residuals_(evenly(residuals, kRowsMost)) {
  CHECK(rows.size() == residuals.size());
  for (double& it : residuals_) it = std::clamp(it, -kLimit, kLimit);
  std::map<std::string, double> counts;
  for (const Neighbour& it : rows_) ++counts[job_key(it.row)];
  for (const Neighbour& it : rows_) {
    middles_[job_key(it.row)] += it.cost / counts[job_key(it.row)];
  }
  Matrix sums;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::vector<double>& line = sums.emplace_back();
    for (std::size_t j = 0; j <= i; ++j) line.push_back(kernel(rows_[i], rows_[j]));
  }
  root_ = covariance_root(sums, residuals_, scales_.robust);
  weights_ = backward_solved(root_, forward_solved(root_, residuals_));
}

NearbyResiduals::Value NearbyResiduals::at(const Neighbour& it) const {
  std::vector<double> near;
  const double around = rows_.empty() ? kSpread * kSpread : kernel(it, it);
  Value value{.mean = 0, .variance = around};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    near.push_back(kernel(it, rows_[i]));
    value.mean += near.back() * weights_[i];
  }
  for (const double part : forward_solved(root_, std::move(near))) value.variance -= part * part;
  value.variance = std::max(value.variance, 0.0);
  return value;
}

}  // namespace stint
