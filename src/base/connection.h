#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/units.h"

namespace stint {

/// A TCP connection on which every wait has an end: whoever is silent for longer than `patience`
/// counts as gone.
class Connection {
 public:
  Connection(Descriptor socket, Seconds patience);

  /// Exactly so many bytes; false when they did not come.
  bool read(char* buffer, std::size_t bytes);

  /// The same, all of them within `limit`, and nothing is read beyond them.
  bool read_within(char* buffer, std::size_t bytes, Seconds limit);

  /// The next line without its end; nothing when none of at most `longest` bytes came.
  std::optional<std::string> read_line(std::size_t longest);

  /// Reads so many bytes and forgets them.
  bool skip(std::int64_t bytes);

  /// False when not all could be sent.
  bool write(std::string_view bytes);

  /// Says that nothing more is sent, and waits a little until the other end has read what was: a
  /// connection that is closed while bytes arrive takes back what it said last.
  void finish();

 private:
  /// How many bytes came, at least one; 0 when it is over.
  std::size_t receive(char* buffer, std::size_t bytes, Seconds wait);

  Descriptor socket_;
  Seconds patience_;
  std::string ahead_;  // Bytes that came with a line.
};

}  // namespace stint
