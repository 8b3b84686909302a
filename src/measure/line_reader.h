#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace stint {

/// Reads a file line by line: memory is bounded by the longest line, whatever the size of the file.
class LineReader {
 public:
  /// More than any line of ours; a file with a longer one must be another.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

  enum class Missing { kError, kEmpty };

  /// A file that cannot be read or that is not a regular one is bad input; with `kEmpty` one that
  /// does not exist reads as an empty one.
  static Result<LineReader> open(const std::string& path, Missing missing = Missing::kError);

  /// The next line without its newline, valid until the next call; nothing at the end.
  Result<std::optional<std::string_view>> next();

  int number() const { return number_; }     // Of the last line, from 1.
  bool cut_off() const { return cut_off_; }  // The last line has no newline.

 private:
  LineReader(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  /// Reads more; false at the end of the file.
  Result<bool> fill();

  Descriptor file_;
  std::string path_;
  std::string buffer_ = {};
  std::size_t begin_ = 0;  // Of what is not yet taken.
  int number_ = 0;
  bool cut_off_ = false;
};

}  // namespace stint
