#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"

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
  std::optional<std::int64_t> dataset;  // Samples in an epoch.
  std::string communication;            // "none", "timed", or why buckets were not timed.
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
  bool sampled = false;      // Further things were measured, so that its times count for less.
  std::optional<int> batch;  // Samples in one pass.
  int passes = 1;            // Forward and backward passes: above 1, gradients are accumulated.
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
  std::optional<ProfileExit> exit;
  Json::Object unknown = {};
};

/// Reads a file of these lines. A last line that was cut off is left out with a warning; any other
/// bad line is an error.
Result<Loaded<std::vector<ProfileRecord>>> read_profile_records(std::string_view text,
                                                                const std::string& source);

}  // namespace stint
