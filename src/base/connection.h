#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/units.h"

namespace stint {

/// A TCP connection on which every wait is limited: a peer that is silent for longer than
/// `patience` counts as disconnected.
class Connection {
 public:
  Connection(Descriptor socket, Seconds patience);

  /// From here on all waits together end after `limit`: a peer that sends a byte now and then is
  /// not silent. Without a limit each wait has its own again.
  void set_limit(std::optional<Seconds> limit);

  /// Reads exactly this many bytes; false when they were not received.
  bool read(char* buffer, std::size_t bytes);

  /// The next line without its newline; nothing when none of at most `longest` bytes was received.
  std::optional<std::string> read_line(std::size_t longest);

  /// Reads and discards this many bytes.
  bool skip(std::int64_t bytes);

  /// False when not all could be sent.
  bool write(std::string_view bytes);

  /// Closes the sending direction.
  void close_sending();

  /// Closes the sending direction, and waits a little until the peer has read everything: a
  /// connection that is closed while bytes arrive loses its last bytes.
  void finish();

 private:
  /// The number of bytes received, at least one; 0 at the end.
  std::size_t receive(char* buffer, std::size_t bytes);

  /// False when the peer was not ready in time.
  bool wait(short events) const;

  Descriptor socket_;
  Seconds patience_;
  std::optional<Deadline> limit_;
  std::string ahead_;  // Bytes received after a line.
};

}  // namespace stint
