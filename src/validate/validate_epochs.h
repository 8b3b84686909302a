#pragma once

#include "base/result.h"
#include "validate/validate_convergence.h"

namespace stint {

/// Predicts epochs to target metrics at other batches (calibrate/epoch_law.h), by the baselines of
/// steps too where these need no gradient noise. With the split "leave-one-job-out" each workload
/// keeps its smallest batch in training, and its other rows are predicted from that and from all
/// other workloads; with "leave-one-batch-out" each batch is predicted from the others. Rows that
/// never reached their target, or within five epochs, are predicted and not scored; sentiment140,
/// whose epochs are the same at every batch, is not in the headline.
Result<ValidationReport> validate_epochs(const ConvergenceRequest& request);

}  // namespace stint
