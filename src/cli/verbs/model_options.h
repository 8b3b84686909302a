#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"

namespace stint::cli {

/// The flags that describe the training of a known model.
std::vector<OptionSpec> model_options();

/// Whether one of them is given.
bool has_model_options(const Invocation& invocation);

/// What --job says, or the training that --model and its flags describe, as the name of a job.
/// Usage error when both are given, or a flag without --model.
Result<std::string> job_text(const Invocation& invocation);

}  // namespace stint::cli
