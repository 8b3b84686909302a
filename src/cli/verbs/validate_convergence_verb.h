#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// validate convergence.
Verb validate_convergence_verb();

}  // namespace stint::cli
