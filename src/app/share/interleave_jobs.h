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
  double confidence = 0.95;      // That deadlines are to be kept with.
  double compute_slowdown = 0;   // See TurnTerms.
  std::string calibration = {};  // A file, or the name of a shipped one; empty: the default.
  // Where to write a picture of the turns of each pair; empty: nowhere.
  std::string timeline = {};
};

struct InterleaveAnswer {
  SharingAnswer answer;
  std::vector<std::string> warnings = {};  // Of what was read.
  bool drawn = false;                      // Whether there was a pair to draw.
};

/// Which of the jobs should share the cluster by twos, what each then gets, and what that saves
/// over a cluster for each. That nothing is saved is an answer. Usage errors: fewer than two jobs,
/// lists of another length, and all that `stint predict` calls one. A job that does not fit by
/// itself is infeasible.
Result<InterleaveAnswer> interleave_jobs(const Environment& environment,
                                         const InterleaveRequest& request);

/// All that is asked of which jobs to pair.
struct InterleaveInputs {
  Cluster cluster;
  std::vector<JobAlone> jobs;
  ShareCluster shared;
  std::vector<std::string> warnings = {};  // Of what was read.
};

/// Loads and predicts every job of the request; see interleave_jobs. Jobs of the same name are
/// numbered.
Result<InterleaveInputs> load_interleave_inputs(const Environment& environment,
                                                const InterleaveRequest& request);

}  // namespace stint
