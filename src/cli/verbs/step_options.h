#pragma once

#include "base/result.h"
#include "cli/verb.h"
#include "measure/tables/step_formats.h"

namespace stint::cli {

// Options that the verbs on tables of step times share.
OptionSpec format_option();
OptionSpec train_option();
OptionSpec jobs_option();

/// What --format says; it must be said, because a table does not tell whose it is.
Result<StepFormat> format_of(const Invocation& invocation);

}  // namespace stint::cli
