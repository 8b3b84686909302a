#pragma once

#include <string>

#include "app/risk/simulate_plan.h"
#include "base/json.h"
#include "base/terminal.h"
#include "cli/verb.h"
#include "validate/validate_revocations.h"

namespace stint::cli {

/// --job, --calibration, --runs, --seed and --as-predicted, of what simulates runs.
std::vector<OptionSpec> simulation_options();
Result<SimulateOptions> simulation_of(const Invocation& invocation);

/// What a plan promised, and beside it what its runs did.
std::string simulation_text(const SimulateReport& report, const Terminal& terminal);
Json simulation_json(const SimulateReport& report);

/// What plans of different policies took, side by side.
std::string revocations_text(const RevocationsReport& report, const Terminal& terminal);
Json revocations_json(const RevocationsReport& report);

}  // namespace stint::cli
