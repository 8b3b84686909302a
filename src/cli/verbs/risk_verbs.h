#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// risk fit and risk survive.
std::vector<Verb> risk_verbs();

/// Where a hazard comes from: a region, lifetimes, or an advisor table.
std::vector<OptionSpec> hazard_options();

}  // namespace stint::cli
