#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "cli/verb.h"
#include "plan/validation.h"
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

/// The scores of one model under its name.
struct NamedScores {
  std::string model;
  std::map<std::string, Score> rows;
};

/// A table of errors: a line for each thing that was scored and each model, in the order given.
/// Rows that could not be predicted have a column only where there are any. Requires a model.
std::string score_table(const std::string& title, const std::vector<NamedScores>& models,
                        const Terminal& terminal);

/// The jobs of each validation, with the mean over jobs and all rows together at the end. Ours
/// comes first and is called "stint". Requires a validation.
std::string validation_table(const std::vector<Validation>& validations, const Terminal& terminal);

}  // namespace stint::cli
