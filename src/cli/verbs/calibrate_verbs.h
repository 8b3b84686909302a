#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

std::vector<Verb> calibrate_verbs();

}  // namespace stint::cli
