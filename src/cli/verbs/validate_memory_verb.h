#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// validate memory.
Verb validate_memory_verb();

}  // namespace stint::cli
