#pragma once

#include <span>
#include <vector>

#include "base/units.h"

namespace stint {

/// How long a worker computes: fixed + batch · per_sample.
struct WorkerSpeed {
  Seconds fixed;
  Seconds per_sample;
};

/// How `global_batch` samples are shared out so that the slowest worker is done soonest: integers
/// that add up to the global batch, each worker at least one.
///
///   minimise max_k (fixed_k + b_k · per_sample_k)  subject to  Σ b_k = B, b_k ≥ 1
///
/// Each next sample goes to the worker that would be done first with it; as times only grow with
/// the batch, this is optimal. Ties go to the earlier worker, so equal workers differ by at most
/// one. Requires a positive per_sample for each and global_batch ≥ the number of workers.
std::vector<int> split_batch(int global_batch, std::span<const WorkerSpeed> workers);

/// The weight of each worker's mean gradient in the global mean, b_k / B, which makes a step on
/// uneven batches the very step that one worker would take on the whole batch.
std::vector<double> gradient_weights(std::span<const int> batches);

}  // namespace stint
