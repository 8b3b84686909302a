#pragma once

#include <string>
#include <vector>

#include "app/risk/deadline_terms.h"
#include "base/result.h"
#include "cli/verb.h"

namespace stint::cli {

/// The flags of a job with a deadline on spot machines.
std::vector<OptionSpec> deadline_options();

Result<DeadlineTerms> deadline_terms(const Invocation& invocation);

}  // namespace stint::cli
