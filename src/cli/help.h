#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/verb.h"

namespace stint::cli {

/// Help on everything (""), on a group of verbs ("catalog"), or on one verb.
std::string help_text(std::span<const Verb> verbs, std::string_view topic);

/// The manual page stint(1), in roff.
std::string manual_page(std::span<const Verb> verbs, std::string_view version);

}  // namespace stint::cli
