#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// status, watch, report, stop.
std::vector<Verb> run_watch_verbs();

}  // namespace stint::cli
