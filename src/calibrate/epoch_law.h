#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/convergence_models.h"
#include "measure/tables/epoch_targets.h"

namespace stint {

/// How the epochs to a target depend on the batch, where nothing is known of gradient noise:
///
///   E(B) = E∞ (1 + s h B₀/B + B/(c B₀)),  h = E∞/(E∞ + 10)
///
/// B₀ is the smallest batch of the workload. At small batches noise slows the approach to the
/// target, the more so the longer it takes (s); at large ones the number of steps does (c).
struct EpochLaw {
  double noise = 1.5;
  double steps = 64;
};

/// ln E(B) − ln E∞ at B/B₀ = `ratio`.
double epochs_over_ideal(const EpochLaw& law, double ideal, double ratio);

/// Epochs of workloads to their targets at any batch, from rows at some. s and c of a workload are
/// drawn around those that all others share, which are drawn around the values above; the ideal of
/// a target is fitted to the rows of that target. What the law misses at known batches is
/// interpolated between them and kept beyond. The interval comes from holding out workloads, of
/// which only the smallest batch is kept, and batches of a workload where several are known.
class EpochModel {
 public:
  static Result<EpochModel> fit(std::span<const EpochTargetRow> rows);

  /// Nothing where no row of the workload has the target.
  std::optional<StepsEstimate> estimate(const std::string& workload, double target,
                                        double batch) const;

  /// Deviation of ln E of a workload of which only the smallest batch is known.
  double spread() const { return spread_; }

 private:
  using Batches = std::map<int, double>;      // ln of the mean epochs, by batch.
  using Targets = std::map<double, Batches>;  // By target.
  using Workloads = std::map<std::string, Targets>;

  static Workloads cells_of(std::span<const EpochTargetRow> rows);
  static Result<EpochLaw> fitted(const std::vector<const Targets*>& workloads,
                                 const EpochLaw& prior, double deviation);
  /// What all workloads but one share.
  static Result<EpochLaw> shared_law(const Workloads& cells, const std::string& without);
  static Result<std::map<std::string, EpochLaw>> laws_of(const Workloads& cells);

  Workloads cells_;
  std::map<std::string, EpochLaw> laws_;
  double spread_ = 0;
  std::map<std::string, double> batch_spreads_;  // Of a workload of which several are known.
};

/// The baselines that need no noise: as many epochs, or steps, as at the nearest batch with rows of
/// the target. Nothing for the others.
std::optional<double> baseline_epochs(StepsBaseline baseline, std::span<const EpochTargetRow> rows,
                                      const EpochTargetRow& asked);

}  // namespace stint
