#pragma once

#include <string_view>

namespace stint {

/// Kills this process at once, as kill -9 does, where `name` is one of those that the variable
/// STINT_CRASH_AT holds, with commas between them; for tests of what is left behind. With
/// STINT_CRASH_ONCE only the first process that comes to a point is killed there: it makes the file
/// of that name with ".POINT" behind.
void crash_point(std::string_view name);

}  // namespace stint
