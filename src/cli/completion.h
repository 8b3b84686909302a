#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/verb.h"

namespace stint::cli {

/// The completion script for "bash", "zsh" or "fish": verbs, flags, and their choices.
std::string completion_script(std::span<const Verb> verbs, std::string_view shell);

}  // namespace stint::cli
