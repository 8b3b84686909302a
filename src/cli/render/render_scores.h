#pragma once

#include <string>

#include "base/terminal.h"
#include "cli/verb.h"
#include "validate/validation_report.h"

namespace stint::cli {

/// The scores of the model that was asked for and of the others on the same rows, by job and over
/// all.
std::string scores_table(const ValidationReport& report, const Terminal& terminal);

/// The options that every `stint validate` has for its files.
std::vector<OptionSpec> validation_options();

/// Writes the predictions if --predictions asks for them, then prints the scores.
ExitCode print_report(const Invocation& invocation, std::string_view verb,
                      const ValidationReport& report);

}  // namespace stint::cli
