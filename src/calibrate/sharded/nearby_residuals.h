#pragma once

#include <vector>

#include "calibrate/sharded/sharded_case.h"

namespace stint {

/// What the law misses at one setup, learned from what it misses at setups like it: a Gaussian
/// process over the rows of a table,
///
///   k(a, b) = σ² exp(−½ Σ ((f_a − f_b)/ℓ_f)²) Π m,
///
/// where features f are logarithms of workers, batch, sequence, degrees, micro-batch and size of
/// the model, and m is a factor below one for each of job, software, accelerator, precision, ZeRO
/// stage, recomputation and placement that differs. Far from all rows it is zero.
class NearbyResiduals {
 public:
  /// `residuals` are logarithms of measured over fitted times. At most kRowsMost rows are used,
  /// evenly taken; residuals beyond kLimit count as that.
  static constexpr std::size_t kRowsMost = 500;
  static constexpr double kLimit = 0.5;

  NearbyResiduals() = default;
  NearbyResiduals(std::vector<const ShardedCase*> rows, std::vector<double> residuals);

  /// The residual that is expected of a row, and its variance.
  struct Value {
    double mean = 0;
    double variance = 0;
  };

  Value at(const ShardedCase& it) const;

 private:
  std::vector<ShardedRow> rows_;
  std::vector<double> weights_;            // K⁻¹ r.
  std::vector<std::vector<double>> root_;  // Lower triangle L of K = L Lᵀ.
};

}  // namespace stint
