#pragma once

#include <span>
#include <string>
#include <vector>

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
/// usage error that suggests the nearest.
Result<Parsed> parse(std::span<const Verb> verbs, const std::vector<std::string>& words);

}  // namespace stint::cli
