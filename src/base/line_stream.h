#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace stint {

/// Cuts the bytes of a pipe or socket into lines as they come, for a loop that polls several.
class LineStream {
 public:
  using TakeLine = std::function<void(std::string_view line)>;

  LineStream() = default;

  /// Reading from it will not wait from now on.
  explicit LineStream(Descriptor from);

  bool open() const { return from_.get() >= 0; }

  /// To be polled, and to be written to if it is a socket.
  int descriptor() const { return from_.get(); }

  /// Gives the lines that came, without their ends, and returns; it never waits. At the end of the
  /// stream, the rest of a line counts as one, and it is closed. Call it again when there is more,
  /// since one call takes about a mebibyte at most. Longer lines are cut there.
  void read(const TakeLine& take);

  /// Gives the rest of a line, if any, and closes.
  void close(const TakeLine& take);

 private:
  void give_lines(const TakeLine& take);

  Descriptor from_ = {};
  std::string rest_ = {};
};

}  // namespace stint
