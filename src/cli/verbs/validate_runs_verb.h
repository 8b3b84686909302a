#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// `stint validate runs`.
Verb validate_runs_verb();

}  // namespace stint::cli
