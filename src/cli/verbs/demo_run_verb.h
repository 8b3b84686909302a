#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// `stint demo --run`.
ExitCode demo_run(const Invocation& invocation);

}  // namespace stint::cli
