#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// `stint interleave`.
Verb interleave_verb();

}  // namespace stint::cli
