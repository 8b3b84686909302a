#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// import trace and import nccl.
std::vector<Verb> import_verbs();

}  // namespace stint::cli
