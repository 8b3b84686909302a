#pragma once

#include <string_view>

namespace stint {

/// Kills this process at once, as kill -9 does, if `name` is in the comma-separated list of the
/// variable STINT_CRASH_AT; for tests of crashes. With STINT_CRASH_ONCE only the first process that
/// reaches a point is killed there: it creates the file of that name with the suffix ".POINT".
void crash_point(std::string_view name);

}  // namespace stint
