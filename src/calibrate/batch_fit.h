#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tables/step_table.h"
#include "plan/calibration.h"
#include "predict/compute_curve.h"

namespace stint {

/// One job on one device at two batches.
struct BatchPair {
  std::string job;
  double batch_ratio = 0.5;  // The smaller batch over the larger one.
  double time_ratio = 0.5;   // The time at the smaller batch over that at the larger one.
};

/// Every two neighbouring batches at which a job was measured with one worker on one device;
/// repeats are averaged by their logarithm.
std::vector<BatchPair> batch_pairs(std::span<const StepRow> rows);

/// What pairs of batches say about the part of a time that does not depend on the batch.
struct BatchFit {
  FixedShare share;
  std::size_t pairs = 0;
  std::vector<std::string> jobs;
  // Of |predicted − measured|/measured at the smaller batch, from the time at the larger one, for
  // the pairs of jobs that were left out in turn.
  double error_mean = 0;
  double error_median = 0;
  double error_p90 = 0;
};

/// The share s of the time at the larger batch that is fixed, by which a pair with the ratio r of
/// batches has
///
///   t(rB)/t(B) = s + (1 − s) r,  s in [0, 1].
///
/// Its mean and deviation over all pairs; each job counts the same, however many pairs it has.
/// Fails with fewer than two jobs.
Result<BatchFit> fit_fixed_share(std::span<const BatchPair> pairs);

/// Adds the constant fixed_share and its accuracy.
void add_to(Calibration& calibration, const BatchFit& fit);

}  // namespace stint
