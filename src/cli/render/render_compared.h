#pragma once

#include <string>

#include "base/terminal.h"
#include "plan/plan.h"

namespace stint::cli {

/// The clusters that were compared with plan 1, for a person: a table with the columns of the
/// plans, and how each differs from plan 1 or why it has no plan. Empty without any.
std::string compared_sheet(const PlanAnswer& answer, const Terminal& terminal);

}  // namespace stint::cli
