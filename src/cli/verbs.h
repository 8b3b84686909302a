#pragma once

#include <span>

#include "cli/verb.h"

namespace stint::cli {

/// The table of verbs.
std::span<const Verb> verbs();

}  // namespace stint::cli
