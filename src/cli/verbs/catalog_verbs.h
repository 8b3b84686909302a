#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// catalog list, show, import and diff.
std::vector<Verb> catalog_verbs();

}  // namespace stint::cli
