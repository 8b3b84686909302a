#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// `stint risk saves`.
Verb risk_saves_verb();

}  // namespace stint::cli
