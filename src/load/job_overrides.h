#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "job/job.h"
#include "plan/plan.h"

namespace stint {

/// The goal in a text: "epochs=90", "samples=1e6", or a level of a metric, "accuracy>=0.93" or
/// "loss<=0.2". Anything else is a usage error.
Result<Goal> parse_goal(std::string_view text);

/// Whether anything is overridden.
bool any_override(const JobOverrides& overrides);

/// Usage error unless each override is right by itself.
Status check_overrides(const JobOverrides& overrides);

/// Puts name, goal and samples per epoch in the place of the profile's. Usage error where one is
/// wrong, or where a goal in epochs has no samples per epoch; the profile is then unchanged.
Status apply_overrides(const JobOverrides& overrides, JobProfile& job);

/// The samples of a goal in samples or epochs; nothing for another, or where there is none.
std::optional<double> goal_samples(const JobProfile& job);

}  // namespace stint
