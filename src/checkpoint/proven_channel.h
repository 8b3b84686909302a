#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/connection.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/units.h"
#include "checkpoint/secret.h"

namespace stint {

/// A connection whose two ends have proven the secret of the run to each other. All that is sent is
/// authenticated, and all that is read was sent by the other end, once and in this order; see
/// checkpoint/receiver_protocol.h. After a failure the channel cannot be used.
class ProvenChannel {
 public:
  /// The receiver's end; nothing when the client did not prove the secret within `limit`. Calls
  /// `decided` once that is known, with the connection still open.
  static std::optional<ProvenChannel> of_receiver(
      Connection connection, std::string_view secret, Seconds limit,
      const std::function<void()>& decided = [] {});

  /// The client's end. The receiver has to prove the secret within `limit`. The error continues a
  /// sentence that begins with the receiver's address.
  static Result<ProvenChannel> of_client(Connection connection, std::string_view secret,
                                         Seconds limit);

  /// Sends a frame of at most kFrameMax bytes; false when it could not be sent.
  bool write(std::string_view bytes);

  /// Reads a frame of exactly this many bytes; false when none came, or another one.
  bool read(char* buffer, std::size_t bytes);

  /// Reads a line without its newline; nothing when no line of at most `longest` bytes came.
  std::optional<std::string> read_line(std::size_t longest);

  /// Closes the sending direction; see Connection::finish.
  void finish() { connection_.finish(); }

 private:
  ProvenChannel(Connection connection, std::string_view secret, Role own, const Nonces& nonces);

  /// Reads the HMAC of a frame that was read, and compares it.
  bool is_authentic(std::string_view bytes);

  Connection connection_;
  HmacSha256 own_;
  HmacSha256 theirs_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace stint
