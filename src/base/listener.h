#pragma once

#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// Which interfaces a port is opened on.
enum class Interfaces { kLoopback, kAll };

/// A socket that takes connections. Programs that are started do not inherit it.
class Listener {
 public:
  /// On a TCP port, 0 for any, of the network namespace it is called in.
  static Result<Listener> on_port(Interfaces interfaces, int port);

  /// On a Unix socket that keeps messages apart (SOCK_SEQPACKET), in a folder whose path may be of
  /// any length.
  static Result<Listener> in_folder(const std::string& folder, const std::string& name);

  /// Takes over one that listens.
  explicit Listener(Descriptor socket) : socket_(std::move(socket)) {}

  void close() { socket_.close(); }

  /// To be polled.
  int descriptor() const { return socket_.get(); }

  /// Of TCP; 0 otherwise.
  int port() const;

  /// The next connection, waited for. What passes (a client that left, too many open files) is
  /// waited out; an error says that this is no listening socket.
  Result<Descriptor> accept() const;

  /// The same with one try, for a loop that polls; none if it fails.
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
