#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// risk fit and risk survive.
std::vector<Verb> risk_verbs();

}  // namespace stint::cli
