#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stint {

/// A line of a file, without its newline.
struct FileLine {
  std::string_view text;
  int number = 0;        // From 1.
  bool cut_off = false;  // The last line, which has no newline.
};

/// Calls `take` with each line of a file that is not blank, until it returns an error, which is
/// then returned. Memory is bounded by the longest line, whatever the size of the file. A file that
/// does not exist has no lines; one that cannot be read, that is not a regular file, or that has a
/// line of more than 64 MiB is bad input.
Status each_line(const std::string& path, const std::function<Status(const FileLine&)>& take);

}  // namespace stint
