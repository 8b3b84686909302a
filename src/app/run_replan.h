#pragma once

#include <string>

#include "app/environment.h"
#include "run/runner.h"

namespace stint {

/// Whether another plan for what is left of a run pays for the move to it.
Replanning think_again(const Environment& environment, const std::string& folder,
                       const RunRecord& record, const Supervisor& supervisor, const RunPlan& plan,
                       const std::string& reason);

}  // namespace stint
