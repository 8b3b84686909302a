#pragma once

#include <string_view>

#include "base/result.h"

namespace stint {

/// A run's name is the name of its folder: 1 to 64 letters, digits, '-', '_' and '.', which begins
/// with neither '-' nor '.' and holds no "..". Anything else is a usage error.
Status check_run_name(std::string_view name);

}  // namespace stint
