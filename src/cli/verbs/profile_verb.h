#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// `stint profile`.
Verb profile_verb();

}  // namespace stint::cli
