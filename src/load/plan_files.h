#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "job/job.h"
#include "load/environment.h"
#include "plan/plan.h"

namespace stint {

/// Keeps `answer` as the last one, for `--plan N`.
Status keep_plan(const Environment& environment, const PlanAnswer& answer);

/// One plan of an answer.
struct PickedPlan {
  PlanAnswer answer;
  std::size_t row = 0;  // From 0; there is such a plan.
  std::vector<std::string> warnings;
};

/// The file of `which`: that of the last answer for a row of it, else `which` itself.
Result<std::string> plan_file(const Environment& environment, const std::string& which);

/// Row `which` ("2", from 1) of the last answer, or the first plan of the file `which`.
Result<PickedPlan> load_plan(const Environment& environment, const std::string& which);

/// The profile of the job that `answer` is for: in the file that it was planned from, else the
/// shipped one of its name. Usage error when it is not there any more, or is another job's.
Result<Loaded<JobProfile>> load_planned_job(const PlanAnswer& answer);

/// Keeps a profile that came from no file beside the last answer, for `--plan N`; returns its path.
Result<std::string> keep_job(const Environment& environment, const JobProfile& job);

}  // namespace stint
