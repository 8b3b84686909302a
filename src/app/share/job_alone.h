#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "interleave/share_job.h"
#include "load/predict_inputs.h"
#include "plan/prediction.h"
#include "predict/resolve.h"

namespace stint {

/// A job alone on a cluster.
struct JobAlone {
  ShareJob job;
  Prediction prediction;
  std::vector<std::optional<Bytes>> accelerators = {};  // Memory of one, by group.
  bool memory_known = true;                             // The memory need of the job is known.
  std::vector<std::string> assumptions = {};
};

/// The training of a job.
struct JobChoice {
  PredictOptions options = {};
  std::optional<double> iterations = {};  // Absent: those to its goal.
  std::optional<Seconds> deadline = {};
};

/// Predicts the job of `inputs` on a cluster. Usage errors are those of resolve; a job that does
/// not fit is infeasible; one without a goal or a number of iterations is bad input.
Result<JobAlone> job_alone(const PredictInputs& inputs, const Cluster& cluster,
                           const JobChoice& choice);

/// The assumption about jobs whose memory need is not known; nothing where there are none.
std::optional<std::string> memory_assumption(const std::vector<std::string>& names);

}  // namespace stint
