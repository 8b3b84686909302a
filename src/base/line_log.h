#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace stint {

/// The time at which a line has to be on the disk.
enum class Durability {
  kNow,    // Before anything else is done.
  kLater,  // It may be lost in a crash of the computer, but not in one of this process.
};

/// A file that grows by whole lines, kept open, which only its user may read.
class LineLog {
 public:
  /// Appends to the file, which is created if it does not exist. A last line that a crash truncated
  /// is removed first. A symbolic link is not followed.
  static Result<LineLog> open(const std::string& path);

  /// Replaces the file by one with these lines, to which it appends from then on. Whatever happens,
  /// `path` has either all old lines or all new ones, and on an error the old ones; a kill in the
  /// middle may leave `path`.new, which nobody reads.
  static Result<LineLog> replace(const std::string& path, std::string_view lines);

  /// `line` ends in a newline.
  Status append(std::string_view line, Durability durability);

 private:
  LineLog(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Descriptor file_;
  std::string path_;
};

}  // namespace stint
