#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"
#include "measure/trace/profile_records.h"

namespace stint {

/// One bucket over many iterations.
struct BucketSummary {
  Bytes bytes;
  double ready = 1;              // Median fraction of backward that is done.
  std::optional<Timing> reduce;  // Absent without workers to reduce with.
};

/// One iteration's gradients of all workers, or of all passes of one worker.
struct GradientSample {
  int batch = 1;                // Samples that each of `squares` is over.
  std::vector<double> squares;  // ‖g_k‖².
  double mean_square = 0;       // ‖ḡ‖².
};

/// What a script took with one batch.
struct ProfileSummary {
  ProfileStart start;
  int seen_batch = 0;           // Of the commonest pass, as the hook saw it; 0: not seen.
  int steps = 0;                // Iterations that count, per worker.
  int passes = 1;               // In an iteration.
  ComputeSample compute;        // Of one pass, and of the update.
  std::optional<Timing> input;  // Waiting for data, per pass; absent where nothing waited.
  std::optional<Timing> iteration;
  std::optional<Timing> exposed;  // What backward waited for communication.
  std::vector<BucketSummary> buckets;
  std::vector<GradientSample> gradients;
};

/// Medians over iterations and workers, without warm-up and, where others are left, without sampled
/// iterations and those of an uncommon batch. With several workers backward ends when its last
/// bucket is ready: what follows is communication. Bad input: no iteration after the warm-up, no
/// start, or a batch that nobody knows. `batch` is the one the script was asked for, if it was.
Result<ProfileSummary> summarise_profile(const std::vector<ProfileRecord>& records,
                                         std::optional<int> batch);

/// The job that these runs, one per batch, tell of. Requires one run or more. Buckets, sizes and
/// input are those of the largest batch.
JobProfile profile_of(const std::string& name, std::vector<ProfileSummary> runs);

}  // namespace stint
