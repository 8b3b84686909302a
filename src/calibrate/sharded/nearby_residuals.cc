#include "calibrate/sharded/nearby_residuals.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kSpread = 0.08;  // Deviation of what the law misses,
constexpr double kNoise = 0.025;  // and of single rows around that.

/// Logarithms to base two, each over its length scale.
std::array<double, 9> features_of(const ShardedRow& row) {
  const ParallelLayout& it = row.layout;
  const double size = row.shape.layers * row.shape.hidden * row.shape.hidden;
  return {
      std::log2(row.gpus) / 2, std::log2(row.global_batch) / 2, std::log2(row.sequence) / 1.5,
      std::log2(it.tensor),    std::log2(it.pipeline),          std::log2(it.virtual_stages) / 2,
      std::log2(it.context),   std::log2(it.micro_batch) / 1.5, std::log2(size) / 3};
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

double kernel(const ShardedRow& a, const ShardedRow& b) {
  const double factor = alike(a, b);
  if (factor == 0) return 0;
  const auto x = features_of(a);
  const auto y = features_of(b);
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) square += (x[i] - y[i]) * (x[i] - y[i]);
  return kSpread * kSpread * factor * std::exp(-square / 2);
}

/// Solves L x = b.
std::vector<double> forward_solved(const std::vector<std::vector<double>>& root,
                                   std::vector<double> b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) b[i] -= root[i][j] * b[j];
    b[i] /= root[i][i];
  }
  return b;
}

/// Solves Lᵀ x = b.
std::vector<double> backward_solved(const std::vector<std::vector<double>>& root,
                                    std::vector<double> b) {
  for (std::size_t i = b.size(); i-- > 0;) {
    b[i] /= root[i][i];
    for (std::size_t j = 0; j < i; ++j) b[j] -= root[i][j] * b[i];
  }
  return b;
}

}  // namespace

NearbyResiduals::NearbyResiduals(std::vector<const ShardedCase*> rows,
                                 std::vector<double> residuals) {
  CHECK(rows.size() == residuals.size());
  const std::size_t step = rows.size() / kRowsMost + 1;
  std::vector<double> kept;
  for (std::size_t i = 0; i < rows.size(); i += step) {
    rows_.push_back(rows[i]->row);
    kept.push_back(std::clamp(residuals[i], -kLimit, kLimit));
  }
  // Cholesky; the noise on the diagonal keeps it above zero.
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::vector<double> line(i + 1);
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = kernel(rows_[i], rows_[j]) + (i == j ? kNoise * kNoise : 0);
      const std::vector<double>& above = j < i ? root_[j] : line;
      for (std::size_t k = 0; k < j; ++k) sum -= line[k] * above[k];
      line[j] = i == j ? std::sqrt(std::max(sum, kNoise * kNoise / 2)) : sum / root_[j][j];
    }
    root_.push_back(std::move(line));
  }
  weights_ = backward_solved(root_, forward_solved(root_, std::move(kept)));
}

NearbyResiduals::Value NearbyResiduals::at(const ShardedCase& it) const {
  std::vector<double> near;
  Value value{.mean = 0, .variance = kSpread * kSpread};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    near.push_back(kernel(it.row, rows_[i]));
    value.mean += near.back() * weights_[i];
  }
  for (const double part : forward_solved(root_, std::move(near))) value.variance -= part * part;
  value.variance = std::max(value.variance, 0.0);
  return value;
}

}  // namespace stint
