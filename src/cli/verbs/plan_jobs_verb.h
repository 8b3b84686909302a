#pragma once

#include <string>

#include "app/plan/plan_cases.h"
#include "base/terminal.h"
#include "cli/verb.h"
#include "plan/together.h"

namespace stint::cli {

/// One bill for several jobs, for a person: what each would rent alone, which of them share what,
/// and what that saves.
std::string together_sheet(const TogetherAnswer& answer, const Terminal& terminal);

/// `stint plan` with several jobs: `request` has what was said for all of them.
ExitCode plan_several(const Invocation& invocation, const PlanRequest& request);

}  // namespace stint::cli
