#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/sharded/sharded_case.h"

namespace stint {

/// A row as its neighbours see it.
struct Neighbour {
  ShardedRow row;
  double cost = 0;  // Logarithm of the law's time over that at the peak of the accelerators.
};

/// How far a row tells about others of its table.
struct NeighbourScales {
  double layout = 1;    // Lengths of the degrees and the micro-batch, over the usual ones.
  double slope = 0;     // Deviation of the share by which the law is wrong about a job's layouts.
  bool robust = false;  // Rows that their neighbours contradict count less.
};

/// What the law misses at one setup, learned from what it misses at setups like it: a Gaussian
/// process over the rows of a table,
///
///   k(a, b) = σ² exp(−½ Σ ((f_a − f_b)/ℓ_f)²) Π m + τ² u_a u_b,
///
/// where features f are logarithms of workers, batch, sequence, degrees, micro-batch and size of
/// the model, and m is a factor below one for each of job, software, accelerator, precision, ZeRO
/// stage, recomputation and placement that differs. u is the cost of a row less the mean of its
/// job: where all layouts of a job are about as fast, τ tells that the law sees too much in them.
/// Where it is robust, a row that its neighbours contradict counts less, as under Student's t. Far
/// from all rows it is zero.
class NearbyResiduals {
 public:
  /// `residuals` are logarithms of measured over fitted times. At most kRowsMost rows are used,
  /// evenly taken; residuals beyond kLimit count as that.
  static constexpr std::size_t kRowsMost = 500;
  static constexpr double kLimit = 0.5;

  NearbyResiduals() = default;
  NearbyResiduals(const std::vector<Neighbour>& rows, const std::vector<double>& residuals,
                  const NeighbourScales& scales = {});

  /// The same rows on other scales.
  NearbyResiduals on(const NeighbourScales& scales) const { return {rows_, residuals_, scales}; }

  /// The residual that is expected of a row, and its variance.
  struct Value {
    double mean = 0;
    double variance = 0;
  };

  Value at(const Neighbour& it) const;

 private:
  double beyond_middle(const Neighbour& it) const;
  double kernel(const Neighbour& a, const Neighbour& b) const;

  NeighbourScales scales_;
  std::vector<Neighbour> rows_;
  std::vector<double> residuals_;
  std::map<std::string, double> middles_;  // Mean cost of each job of a table.
  std::vector<double> weights_;            // K⁻¹ r.
  std::vector<std::vector<double>> root_;  // Lower triangle L of K = L Lᵀ.
};

}  // namespace stint
