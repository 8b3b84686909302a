#pragma once

#include <string>
#include <vector>

#include "job/job.h"
#include "plan/calibration.h"

namespace stint {

/// The job in the file `name`, or the shipped one called so. Neither: bad input that lists what is
/// shipped.
Result<Loaded<JobProfile>> load_job(const std::string& name);

/// The calibration in the file `name`, or the shipped one called so; empty: the shipped one for
/// AWS, or prior belief where none is shipped.
Result<Loaded<Calibration>> load_calibration(const std::string& name);

}  // namespace stint
