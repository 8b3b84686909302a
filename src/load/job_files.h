#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/job.h"
#include "plan/calibration.h"
#include "predict/fabric.h"

namespace stint {

/// Job profiles by name.
using JobsByName = std::map<std::string, JobProfile>;

/// The job profiles inside the binary.
JobsByName shipped_jobs();

/// A JSON array of job profiles. Bad input when it is no array, when a profile is wrong or when two
/// have one name.
Result<JobsByName> read_jobs(std::string_view text, const std::string& source);

/// The shipped calibration called so. Requires that there is one.
Calibration shipped_calibration(std::string_view name);

/// What is believed of fabrics and jobs before any measurement.
Calibration shipped_priors();

/// What is shipped about networks: physics, and the prior of any network.
NetworkKnowledge shipped_networks();

}  // namespace stint
