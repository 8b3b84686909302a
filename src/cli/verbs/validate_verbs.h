#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

std::vector<Verb> validate_verbs();

}  // namespace stint::cli
