#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "run/worker_output.h"

namespace stint {

/// The file of what the workers in a seat printed, one after the other.
std::string worker_log_path(const std::string& run, Seat seat);

/// The seat whose file is called so; nothing for other files.
std::optional<Seat> worker_log_seat(std::string_view file);

/// Reads the output of workers line by line, while it grows, in bounded memory.
class WorkerLog {
 public:
  static Result<WorkerLog> open(const std::string& path);

  /// Goes on with the last `lines` lines, if there are more.
  Status keep_last(std::int64_t lines);

  /// The next line without its end, or nothing at present. Longer ones than 64 KiB come in pieces.
  /// A last line that has no end comes only with `rest`, since more of it may follow.
  std::optional<std::string> next(bool rest);

  std::int64_t offset() const { return offset_; }  // Bytes before the next line.
  std::int64_t size() const;                       // Bytes so far.

 private:
  explicit WorkerLog(Descriptor file) : file_(std::move(file)) {}

  /// Reads more; false: there is nothing at present.
  bool fill();
  std::string take(std::size_t length, std::size_t end);

  Descriptor file_;
  std::int64_t offset_ = 0;
  std::string buffer_ = {};
  std::size_t begin_ = 0;  // Of what is not yet taken.
};

/// A line as a terminal would leave it: what a progress bar overwrote and escape sequences are
/// left out, and other control characters and broken UTF-8 are replaced.
std::string log_text(std::string_view line);

/// The rank in a line that Stint puts into the log where it starts a worker: "stint" is within its
/// first bytes, and "rank N" follows. Nothing for other lines.
std::optional<int> marked_rank(std::string_view line);

}  // namespace stint
