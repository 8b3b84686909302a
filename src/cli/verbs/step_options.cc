#include "cli/verbs/step_options.h"

#include "base/text.h"
#include "cli/verbs/choices.h"

namespace stint::cli {

OptionSpec format_option() {
  return {.name = "--format",
          .value = "NAME",
          .help = "Whose table it is; stint: our own record of runs.",
          .choices = choices_of<StepFormat>()};
}

OptionSpec train_option() {
  return {.name = "--train", .value = "FILE...", .help = "Tables to learn from.", .files = true};
}

OptionSpec jobs_option() {
  return {.name = "--jobs",
          .value = "FILE",
          .help = "A JSON array of job profiles, matched by name (default: the shipped ones)."};
}

Result<StepFormat> format_of(const Invocation& invocation) {
  if (invocation.has("--format")) return enumerator<StepFormat>(invocation.get("--format"));
  return bad_usage("--format is missing: whose table it is, one of " +
                   join(choices_of<StepFormat>(), ", "));
}

}  // namespace stint::cli
