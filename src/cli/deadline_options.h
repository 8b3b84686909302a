#pragma once

#include <string>
#include <vector>

#include "app/deadline_terms.h"
#include "base/result.h"
#include "cli/verb.h"

namespace stint::cli {

/// The flags of a job with a deadline on spot machines.
std::vector<OptionSpec> deadline_options();

Result<DeadlineTerms> deadline_terms(const Invocation& invocation);

/// The duration that an option holds, above zero, or at least zero for `or_zero`; nothing when it
/// is not given. Anything else is a usage error.
Result<std::optional<Seconds>> duration_of(const Invocation& invocation, const std::string& option,
                                           bool or_zero = false);

}  // namespace stint::cli
