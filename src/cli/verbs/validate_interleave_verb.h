#pragma once

#include <string>

#include "base/terminal.h"
#include "cli/verb.h"
#include "plan/interleave_validation.h"

namespace stint::cli {

/// A line for each world and policy, from the dearest to the best that was possible.
std::string pairing_score_table(const InterleaveValidation& validation, const Terminal& terminal);

/// validate interleave.
Verb validate_interleave_verb();

}  // namespace stint::cli
