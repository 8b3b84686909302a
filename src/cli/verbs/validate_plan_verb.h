#pragma once

#include <string>

#include "base/terminal.h"
#include "cli/verb.h"
#include "plan/plan_validation.h"

namespace stint::cli {

/// A line for each job and policy, and for all jobs; ours comes first.
std::string plan_score_table(const PlanValidation& validation, const Terminal& terminal);

/// validate plan.
Verb validate_plan_verb();

}  // namespace stint::cli
