#pragma once

#include <vector>

#include "base/result.h"
#include "load/predict_inputs.h"
#include "plan/layout.h"
#include "run/run_record.h"

namespace stint {

/// How the samples of a step are shared out.
struct BatchShares {
  int global_batch = 1;
  int micro_batch = 1;            // Samples that a worker takes at once, at most.
  bool equal = false;             // Fast and slow machines get the same.
  std::vector<int> workers = {};  // On a VM of each group; empty: one.
};

/// Micro-batches of a step on each machine of the cluster, such that no worker takes more samples
/// at once than it may.
int accumulation_on(const Cluster& cluster, const BatchShares& shares);

/// The machines of `cluster` for a run with all step times of its subsets.
Result<RunPlan> run_plan_of(const PredictInputs& inputs, const Cluster& cluster,
                            const BatchShares& shares);

/// The same with the step time of all machines only, to compare clusters by.
Result<RunPlan> whole_plan_of(const PredictInputs& inputs, const Cluster& cluster,
                              const BatchShares& shares);

}  // namespace stint
