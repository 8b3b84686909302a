#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "plan/plan.h"

namespace stint::cli {

/// "on-demand", "spot" or "mixed".
std::string market_text(const Plan& plan);

/// The region of the plan's prices; empty where it is not known.
std::string region_text(const Plan& plan);

/// The accelerators that train: "8x V100-SXM2", "4x T4 + 8x L4".
std::string gpus_text(const Plan& plan);

/// What the plan is expected to pay per hour, with replacements, receivers and storage.
DollarsPerSecond expected_rate(const Plan& plan);

/// Plans as a table. A narrow terminal loses notes and figures of less interest first; cluster,
/// time and cost stay. Notes that have no place in it follow below. Plans that the shown columns do
/// not tell apart are shown with a column that does, or as one row: the first. Without `labels`
/// they are numbered from 1.
std::string plan_table(const std::vector<Plan>& plans, const Terminal& terminal,
                       std::vector<std::string> labels = {});

}  // namespace stint::cli
