#pragma once

#include <optional>
#include <string>
#include <vector>

#include "load/environment.h"
#include "load/predict_inputs.h"
#include "plan/prediction.h"
#include "predict/resolve.h"

namespace stint {

struct PredictRequest {
  std::string job;      // A file, or the name of a shipped job.
  std::string cluster;  // See parse_cluster.
  PredictOptions options = {};
  std::string calibration = {};  // A file, or the name of a shipped one; empty: the default.
  // The twin in simulate/ instead of the closed form; it plays the profile's buckets.
  bool event_driven = false;
  // Where to write a picture of the iteration, with the profile's buckets; empty: nowhere.
  std::string timeline = {};
};

struct PredictAnswer {
  std::string job;
  Prediction prediction;
  std::vector<std::string> warnings;   // Of what was read.
  std::vector<std::string> doubts;     // Of the answer; they stand among its assumptions as well.
  CalibrationRecord calibration = {};  // Of the network.
};

/// One iteration of a job on a cluster. A batch that does not fit into memory is an answer, not an
/// error: its verdict says so.
Result<PredictAnswer> predict_job(const Environment& environment, const PredictRequest& request);

/// A command that predicts the job of the file `job` and works when it is pasted: on the first of a
/// few common machines that times of the job can be had for. Nothing where there is none.
std::optional<std::string> predict_command(const Environment& environment, const std::string& job);

/// What is imagined to be different; at least one.
struct WhatIf {
  std::optional<BytesPerSecond> network = {};  // Of every VM.
  std::optional<int> batch_per_worker = {};
  std::optional<std::string> gpu = {};  // In the same VMs.
  std::optional<int> vms = {};          // Of a cluster of one group.
  std::optional<Collective> collective = {};
};

struct WhatIfAnswer {
  std::string job;
  Prediction before;
  Prediction after;
  std::vector<std::string> warnings;
};

/// The same job before and after a change. A GPU that is imagined in a VM has no price.
Result<WhatIfAnswer> predict_change(const Environment& environment, const PredictRequest& request,
                                    const WhatIf& change);

}  // namespace stint
