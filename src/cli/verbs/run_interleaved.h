#pragma once

#include <string>

#include "app/run/run_together.h"
#include "cli/verb.h"

namespace stint::cli {

/// `stint run --interleave`: two runs on the same machines. `common` is what was asked for both.
ExitCode run_interleaved(const Invocation& invocation, const RunRequest& common);

/// `stint run --resume` of a run that shares its machines.
ExitCode resume_interleaved(const Invocation& invocation, const std::string& name);

}  // namespace stint::cli
