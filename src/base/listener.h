#pragma once

#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

inline constexpr const char* kLoopback = "127.0.0.1";

/// The IPv4 address that stands for all addresses of a machine.
inline constexpr const char* kAllAddresses = "0.0.0.0";

/// Whether `text` is an IPv4 address in its usual form.
bool is_address(const std::string& text);

/// A socket that accepts connections. Started programs do not inherit it.
class Listener {
 public:
  /// Listens on a TCP port, 0 for any, of one address of the present network namespace.
  static Result<Listener> on(const std::string& address, int port);

  /// Listens on a Unix socket that preserves message boundaries (SOCK_SEQPACKET), in a folder whose
  /// path may be of any length.
  static Result<Listener> in_folder(const std::string& folder, const std::string& name);

  /// Takes ownership of a listening socket.
  explicit Listener(Descriptor socket) : socket_(std::move(socket)) {}

  void close() { socket_.close(); }

  /// For polling.
  int descriptor() const { return socket_.get(); }

  /// TCP port; 0 otherwise.
  int port() const;

  /// Waits for the next connection. Temporary failures (a client that left, too many open files)
  /// are retried; an error means that this is not a listening socket.
  Result<Descriptor> accept() const;

  /// The same with one attempt, for a loop that polls; none if it fails.
  Descriptor try_accept() const;

 private:
  Descriptor socket_;
};

/// A connection to the listener of a folder.
Result<Descriptor> connect_in_folder(const std::string& folder, const std::string& name);

/// A connection to a TCP port at an IPv4 address; it does not block.
Result<Descriptor> connect_to(const std::string& address, int port, Seconds limit);

/// A TCP port of the loopback interface that nothing listens on at the moment.
Result<int> free_loopback_port();

}  // namespace stint
