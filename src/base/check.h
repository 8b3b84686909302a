#pragma once

namespace stint {

/// Prints the failed condition and its location, then aborts. For our own bugs, never for input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace stint

/// Stops the program in every build when `condition` is false.
#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::stint::check_failed(#condition, __FILE__, __LINE__))
