#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// validate revocations.
Verb validate_revocations_verb();

}  // namespace stint::cli
