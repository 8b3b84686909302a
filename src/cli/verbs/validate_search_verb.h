#pragma once

#include <string>

#include "base/terminal.h"
#include "cli/verb.h"
#include "plan/search_validation.h"

namespace stint::cli {

/// A line for each job and policy, and for all jobs; ours comes first.
std::string search_score_table(const SearchValidation& validation, const Terminal& terminal);

/// validate search.
Verb validate_search_verb();

}  // namespace stint::cli
