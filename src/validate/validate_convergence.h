#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "validate/validation_report.h"

namespace stint {

struct ConvergenceRequest {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;     // "leave-one-batch-out", or empty when there are test files.
  std::string baseline;  // A name of StepsBaseline, or empty for ours.
};

/// Fits the steps of each job to its level (see trained_jobs) at any batch to training runs, and
/// predicts runs at other batches: those of the test files, or with the split "leave-one-batch-out"
/// each run in turn from the other batches of its job and all other jobs. The prediction, in steps,
/// is repeated on each row of its run; a run is scored once. The measured columns of test rows are
/// used for scores only: runs that never reach the level are counted in the notes, not scored, and
/// jobs whose training runs reach it within five epochs are left out of the headline.
Result<ValidationReport> validate_convergence(const ConvergenceRequest& request);

/// The names of the baselines.
std::vector<std::string> convergence_baselines();

}  // namespace stint
