#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/sharded/nearby_residuals.h"
#include "calibrate/sharded/sharded_case.h"
#include "plan/calibration.h"
#include "solver/least_squares.h"

namespace stint {

/// Mean and deviation of a logarithm before any row.
struct ConstantBelief {
  double mean = 0;
  double deviation = 1;
};

/// What is believed of the constants of the law, in the order of sharded_constants(), and of
/// accelerators over it.
struct ShardedPriors {
  std::vector<ConstantBelief> constants;
  std::map<std::string, ConstantBelief> gpus;  // By name; others have mean 0.
};

/// Data sheets and common practice.
ShardedPriors physical_priors();

/// What a calibration found, as the beginning of another fit; see ShardedStepModel::carried.
Result<ShardedPriors> calibrated_priors(const Calibration& calibration);

using CasePointers = std::vector<const ShardedCase*>;

/// The rows of a fit: logarithms of their times, their noise, and the numbers of their effects and
/// of the constants of their own table.
struct ShardedFitRows {
  std::vector<double> log_times;
  std::vector<double> noise;
  std::vector<std::vector<std::size_t>> effects;
  std::vector<std::vector<std::size_t>> own;
};

/// The law of sharded steps (predict/sharded/sharded_step.h) fitted to rows of tables:
///
///   ln T = ln law(θ) + gpu + table + job of the table + software of the table + ε
///
/// The constants θ are fitted in their logarithms with their priors; of several tables each has
/// four of them for itself, around the shared ones. The other terms are effects around zero, so
/// that a GPU, job or version without rows falls back to what all rows share. The loss is robust
/// (solver/least_squares.h), and a table with many rows counts as kRowsMost of them. What the law
/// misses at setups like the predicted one is added (nearby_residuals.h).
class ShardedStepModel {
 public:
  static constexpr double kRowsMost = 80;

  /// Requires usable rows with a time; without rows it is what the priors say. The search begins at
  /// `near`, a fit of nearly the same rows, where there is one. Failures are the solver's.
  static Result<ShardedStepModel> fit(const CasePointers& rows, const ShardedPriors& priors,
                                      const ShardedStepModel* near = nullptr);

  /// The logarithm of seconds and its deviation: that of the posterior, of effects without rows,
  /// and of a row.
  struct Estimate {
    double log_time = 0;
    double deviation = 0;
  };

  Estimate estimate(const ShardedCase& it) const;

  /// The same fit, with what it misses at neighbours on other scales.
  ShardedStepModel on(const NeighbourScales& scales) const;

  ShardedLaw law() const;

  /// This fit as the prior of another table, whose constants differ by half the deviation that was
  /// believed before.
  ShardedPriors carried() const;

  Calibration to_calibration() const;

 private:
  using Effects = std::map<std::string, std::size_t>;  // Numbers of unknowns.

  ShardedFitRows collect(const CasePointers& rows, const ShardedStepModel* near,
                         std::vector<Unknown>& unknowns);
  void keep(const Fitted& fitted, const std::vector<std::size_t>& constants);
  double log_time(const ShardedCase& it, std::span<const double> x) const;
  Neighbour neighbour(const ShardedCase& it) const;

  ShardedPriors priors_;
  std::vector<double> values_;
  std::vector<std::vector<double>> covariance_;
  std::vector<bool> identified_;
  Effects effects_;
  bool several_tables_ = false;
  NearbyResiduals missed_;
};

}  // namespace stint
