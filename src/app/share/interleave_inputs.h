#pragma once

#include <string>
#include <vector>

#include "app/share/interleave_jobs.h"
#include "app/share/job_alone.h"
#include "load/environment.h"

namespace stint {

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
