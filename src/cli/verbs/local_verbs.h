#pragma once

#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// The verbs of the emulated cloud: up, list, exec, preempt, down, clean.
std::vector<Verb> local_verbs();

}  // namespace stint::cli
