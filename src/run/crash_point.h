#pragma once

#include <string_view>

namespace stint {

/// Kills this process at once, as kill -9 does, where the variable STINT_CRASH_AT holds `name`; for
/// tests of what is left behind.
void crash_point(std::string_view name);

}  // namespace stint
