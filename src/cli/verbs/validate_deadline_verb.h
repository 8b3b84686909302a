#pragma once

#include <string>

#include "base/terminal.h"
#include "cli/verb.h"
#include "plan/deadline_validation.h"

namespace stint::cli {

/// A line for each policy, the best first; those that missed a deadline come last.
std::string deadline_score_table(const DeadlineValidation& validation, const Terminal& terminal);

/// A line for each policy, with what became of its deadlines when on-demand starts were refused.
std::string refusal_table(const DeadlineValidation& validation, const Terminal& terminal);

/// A line for each kind of pool and slack, and for all windows.
std::string deadline_cell_table(const DeadlineValidation& validation, const Terminal& terminal);

/// validate deadline.
Verb validate_deadline_verb();

}  // namespace stint::cli
