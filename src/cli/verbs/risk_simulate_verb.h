#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// risk simulate.
Verb risk_simulate_verb();

}  // namespace stint::cli
