#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace stint::cli {

/// What the words of a command line mean.
struct Parsed {
  const Verb* verb = nullptr;  // Null: help on `topic`.
  std::string topic;           // "", "catalog" or a verb's path.
  Invocation invocation;
};

/// Finds the verb that `words` begin with and reads its flags. A misspelt verb or flag is a usage
/// error that suggests the nearest.
Result<Parsed> parse(std::span<const Verb> verbs, const std::vector<std::string>& words);

}  // namespace stint::cli
