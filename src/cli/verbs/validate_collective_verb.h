#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// validate collective.
Verb validate_collective_verb();

}  // namespace stint::cli
