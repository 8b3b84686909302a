#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace stint::cli {

/// How plan 1 saves its state, what that costs, and what happens at an interruption; nothing for a
/// plan without spot machines.
std::vector<std::string> checkpoint_lines(const Plan& plan);

}  // namespace stint::cli
