#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// validate survival.
Verb validate_survival_verb();

}  // namespace stint::cli
