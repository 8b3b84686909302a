#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// validate pairs.
Verb validate_pairs_verb();

}  // namespace stint::cli
