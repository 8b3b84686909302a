#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace stint {

/// The joint distribution of several positive figures whose logarithms are normal.
struct LogBelief {
  std::vector<double> mean;        // Means of the logarithms.
  std::vector<double> covariance;  // Covariance of the logarithms, row by row.

  explicit LogBelief(std::vector<double> means)
      : mean(std::move(means)), covariance(mean.size() * mean.size(), 0.0) {}

  std::size_t size() const { return mean.size(); }
  double& between(std::size_t i, std::size_t k) { return covariance[i * mean.size() + k]; }
  double between(std::size_t i, std::size_t k) const { return covariance[i * mean.size() + k]; }
  double variance(std::size_t i) const { return between(i, i); }

  /// The mean of the figure itself.
  double expected(std::size_t i) const { return std::exp(mean[i] + variance(i) / 2); }
};

/// The value below which `share` of the sorted values lies, interpolated between neighbours; the
/// first is that of 0 and the last that of 1. Requires a value.
template <class Quantity>
Quantity sorted_quantile(const std::vector<Quantity>& sorted, double share) {
  CHECK(!sorted.empty());
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// The share of a standard normal distribution below `x`.
double normal_distribution(double x);

/// x with normal_distribution(x) = share. Requires 0 < share < 1.
double normal_quantile(double share);

}  // namespace stint
