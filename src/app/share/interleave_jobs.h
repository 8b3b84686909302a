#pragma once

#include <string>
#include <vector>

#include "app/share/job_alone.h"
#include "base/result.h"
#include "load/environment.h"
#include "plan/sharing.h"

namespace stint {

/// Jobs that could share a cluster. Lists hold one value for all jobs, one for each, or none.
struct InterleaveRequest {
  std::vector<std::string> jobs;  // Files, or names of shipped jobs; at least two.
  std::string cluster;            // See parse_cluster.
  std::vector<int> batch_per_worker = {};
  std::vector<int> workers_per_vm = {};
  std::vector<double> iterations = {};  // None: those to each job's goal.
  std::vector<Seconds> deadlines = {};
  double confidence = 0.95;      // Probability with which deadlines must be kept.
  double compute_slowdown = 0;   // See TurnTerms.
  std::string calibration = {};  // A file, or the name of a shipped one; empty: the default.
  // File for a trace of the turns of each pair; empty: none.
  std::string timeline = {};
};

/// More jobs than this take long: every two are assessed.
inline constexpr std::size_t kShareJobsMax = 24;

struct InterleaveAnswer {
  SharingAnswer answer;
  std::vector<std::string> warnings = {};  // Warnings of the files read.
  bool drawn = false;                      // Whether there was a pair for the trace.
};

/// The jobs that should share the cluster in pairs, the prediction for each, and the saving
/// relative to a cluster for each. A result without a saving is valid. Usage errors: fewer than two
/// jobs, lists of another length, and the usage errors of `stint predict`. A job that does not fit
/// alone is infeasible.
Result<InterleaveAnswer> interleave_jobs(const Environment& environment,
                                         const InterleaveRequest& request);

/// The inputs of the pairing.
struct InterleaveInputs {
  Cluster cluster;
  std::vector<JobAlone> jobs;
  ShareCluster shared;
  std::vector<std::string> warnings = {};  // Warnings of the files read.
};

/// Loads and predicts every job of the request; see interleave_jobs. Jobs of the same name are
/// numbered.
Result<InterleaveInputs> load_interleave_inputs(const Environment& environment,
                                                const InterleaveRequest& request);

}  // namespace stint
