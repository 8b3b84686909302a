#pragma once

#include <string>
#include <vector>

#include "app/plan/plan_cases.h"
#include "base/terminal.h"
#include "cli/render/plan_table.h"
#include "plan/plan.h"

namespace stint::cli {

/// What the optimiser found, for a person: the plans, how sure that is, what was left out and why,
/// the bound, the date of the prices and what is assumed; with a front its picture; with a policy
/// the difference from our own plan. Where no plan keeps the constraints: the nearest, by how much
/// it misses them, and what to change. `verbose` adds the passes and all that is assumed.
std::string plan_sheet(const PlanOutcome& outcome, bool verbose, const Terminal& terminal);

/// Plans as CSV with plain numbers, units in the header.
std::string plan_csv(const std::vector<Plan>& plans);

/// "the cheapest plans done in 12.0 h, with 95 % confidence".
std::string goal_text(const PlanGoal& goal);

/// A duration as a flag reads it, rounded up: "14h", "95min".
std::string deadline_flag(Seconds deadline);

}  // namespace stint::cli
