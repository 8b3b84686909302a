#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// `predict` and `whatif`.
std::vector<Verb> predict_verbs();

}  // namespace stint::cli
