#pragma once

#include <span>

#include "base/units.h"

namespace stint {

/// How long a worker computes: fixed + batch · per_sample.
struct WorkerSpeed {
  Seconds fixed;
  Seconds per_sample;
};

/// Equal workers.
struct WorkerKind {
  int workers = 1;
  WorkerSpeed speed;
};

/// What the workers of a kind get: `busiest` of them `largest` samples, the others one less.
struct KindShare {
  int largest = 1;
  int busiest = 1;
};

/// How `batch` samples are shared out so that the slowest worker is done soonest: integers that add
/// up to the batch, each worker at least one.
///
///   minimise max_k (fixed_k + b_k · per_sample_k)  subject to  Σ b_k = B, b_k ≥ 1
///
/// Each next sample goes to the worker that would be done first with it; as times only grow with
/// the batch, this is optimal. Ties go to the earlier kind. Where that leads is found by halving,
/// without handing out single samples. Writes one share for each kind. Requires a positive
/// per_sample and at least one worker for each, and batch ≥ the number of workers.
void split_batch(int batch, std::span<const WorkerKind> kinds, std::span<KindShare> shares);

}  // namespace stint
