#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/project.h"
#include "cli/verb.h"

namespace stint::cli {

/// The meaning of the words of a command line.
struct Parsed {
  const Verb* verb = nullptr;  // Null: help on `topic`.
  std::string topic;           // "", "catalog" or a verb's path.
  bool help_asked = false;     // False with a null verb: the command line is unfinished.
  Invocation invocation;
};

/// Finds the verb that `words` name and reads its flags: "--gpu T4", "--gpu=T4", "-o json",
/// "-ojson", "-qv"; "--" ends them. Switches may precede the verb. A misspelt verb or flag is a
/// usage error that suggests the nearest. What the words leave open comes from the project file
/// that `project` reads, for a verb that takes values from one.
Result<Parsed> parse(std::span<const Verb> verbs, const std::vector<std::string>& words,
                     const ProjectReader& project = {});

/// The values of an option: those of a list split, and checked against its choices. Usage error:
/// several values of an option that takes one, an empty one, or one that is no choice.
Result<std::vector<std::string>> option_values(const OptionSpec& option,
                                               const std::vector<std::string>& given);

}  // namespace stint::cli
