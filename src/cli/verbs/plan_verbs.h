#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// `plan`, `explain` and `demo`.
std::vector<Verb> plan_verbs();

}  // namespace stint::cli
