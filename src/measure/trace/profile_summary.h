#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "job/job.h"
#include "measure/trace/operator_figures.h"

namespace stint {

// What the hook (python/stint) writes while a training script runs: JSON lines, those of all
// workers in one file.

inline constexpr const char* kProfileSchema = "stint.profile/1";

/// What is known of a job after its first iteration.
struct ProfileStart {
  int world = 1;  // Workers.
  std::string device;
  std::map<std::string, std::string> environment;
  Bytes gradient_bytes;
  Bytes parameter_bytes;
  Bytes optimizer_bytes;
  std::string optimizer;
  std::optional<std::int64_t> dataset;     // Samples in an epoch.
  std::string communication;               // "none", "timed", or why buckets were not timed.
  std::optional<Bytes> frozen_bytes = {};  // Parameters that no optimizer trains.
  std::optional<TrainingMethod> training = {};
  // Who can be asked for another batch: "script" calls stint.batch_size(), "loader" is a DataLoader
  // that the hook may change. Absent: nobody, for the reason beside it.
  std::optional<std::string> batch_from = {};
  std::optional<std::string> batch_fixed = {};
  std::optional<int> own_batch = {};  // What the script takes unless it is asked.
  Json::Object unknown = {};
};

/// Gradients that are sent together, or would be with several workers.
struct ProfiledBucket {
  Bytes bytes;
  Seconds ready;                  // After the last backward pass began.
  std::optional<Seconds> reduce;  // All-reduce, from ready to done.
  Json::Object unknown = {};
};

/// One iteration of one worker.
struct ProfiledStep {
  std::int64_t number = 0;
  bool warmup = false;
  bool sampled = false;         // Further things were measured, so that its times count for less.
  std::optional<int> batch;     // Samples in one pass.
  int passes = 1;               // Micro-steps: above 1, the batch is trained in parts.
  std::optional<int> updates;   // Steps of the optimizer that stepped most often.
  std::optional<bool> skipped;  // A gradient scaler left a step out.
  std::optional<Seconds> time;
  Seconds input;
  Seconds forward;
  Seconds backward;
  Seconds update;
  Bytes peak;
  std::vector<ProfiledBucket> buckets;
  std::optional<double> local_square;  // Of this worker's gradient, or of the first pass's.
  std::optional<double> mean_square;   // Of the mean over workers, or over passes.
  Json::Object unknown = {};
};

/// How far a script came that ended by itself.
struct ProfileExit {
  std::int64_t backwards = 0;
  std::int64_t steps = 0;
  Json::Object unknown = {};
};

/// One line.
struct ProfileRecord {
  int rank = 0;
  std::optional<ProfileStart> start;
  std::optional<ProfiledStep> iteration;
  std::optional<OperatorLine> operators;  // With `stint profile --for` only.
  std::optional<OperatorTotal> total;
  std::optional<ProfileExit> exit;
  Json::Object unknown = {};
};

/// Reads a file of these lines. A last line that was cut off is left out with a warning; any other
/// bad line is an error.
Result<Loaded<std::vector<ProfileRecord>>> read_profile_records(std::string_view text,
                                                                const std::string& source);

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
  bool own = false;             // The batch is the script's own.
  int steps = 0;                // Iterations that count, per worker.
  int passes = 1;               // In an iteration.
  int updates = 1;              // Steps of the optimizer that stepped most often.
  ComputeSample compute;        // Of one pass, and of the update.
  std::optional<Timing> input;  // Waiting for data, per pass; absent where nothing waited.
  std::optional<Timing> iteration;
  std::optional<Timing> exposed;  // What backward waited for communication.
  std::vector<BucketSummary> buckets;
  std::vector<GradientSample> gradients;
};

/// Medians over iterations and workers, without warm-up and, where others are left, without sampled
/// iterations, those whose step was skipped and those of an uncommon batch or number of passes.
/// With several workers backward ends when its last bucket is ready: what follows is communication.
/// Bad input: no iteration after the warm-up, no start, or a batch that nobody knows. `batch` is
/// the one the script was asked for, if it was.
Result<ProfileSummary> summarise_profile(const std::vector<ProfileRecord>& records,
                                         std::optional<int> batch);

/// The job that these runs, one per batch, tell of. Requires one run or more. Buckets, sizes and
/// input are those of the largest batch. The reference batch is the script's own where a run or the
/// script tells it, else that of the only run.
JobProfile profile_of(const std::string& name, std::vector<ProfileSummary> runs);

}  // namespace stint
