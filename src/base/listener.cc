#include "base/listener.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr int kWaiting = 64;  // Connections that the kernel queues until they are accepted.

sockaddr_in address_of(in_addr host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr = host;
  return address;
}

/// The sockets interface accepts addresses of all families.
template <class Address>
const sockaddr* general(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

int bind_and_listen(int socket, const sockaddr* address, socklen_t size) {
  return ::bind(socket, address, size) == 0 ? ::listen(socket, kWaiting) : -1;
}

/// The address of a socket in an open folder: the path itself may be longer than the 107 bytes
/// that an address holds.
sockaddr_un address_in(int folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof(address.sun_path) - 1, "/proc/self/fd/{}/{}", folder,
                   name);
  return address;
}

/// A socket after `act` was applied to it in the folder.
template <class Act>
Result<Descriptor> socket_in(const std::string& folder, const std::string& name, const char* verb,
                             Act act) {
  const Descriptor place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (place.get() >= 0 && socket.get() >= 0) {
    const sockaddr_un address = address_in(place.get(), name);
    if (act(socket.get(), general(address), sizeof(address)) == 0) return socket;
  }
  return failed(fmt::format("cannot {} {}/{}: {}", verb, folder, name, std::strerror(errno)));
}

/// Zero, or the errno of the failed connection.
int connect_within(int socket, const sockaddr_in& address, Seconds limit) {
  if (::connect(socket, general(address), sizeof(address)) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(socket, POLLOUT, limit)) return ETIMEDOUT;
  int cause = 0;
  socklen_t size = sizeof(cause);
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &cause, &size);
  return cause;
}

}  // namespace

bool is_address(const std::string& text) {
  in_addr host{};
  return ::inet_pton(AF_INET, text.c_str(), &host) == 1;
}

Result<Listener> Listener::on(const std::string& address, int port) {
  in_addr host{};
  if (::inet_pton(AF_INET, address.c_str(), &host) != 1) {
    return bad_input(fmt::format("'{}' is not an address", printable(address)));
  }
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // A port that was closed a moment ago may be reused.
  if (port != 0) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in place = address_of(host, port);
  const bool listens =
      socket.get() >= 0 && bind_and_listen(socket.get(), general(place), sizeof(place)) == 0;
  if (listens) return Listener(std::move(socket));
  return failed(fmt::format("cannot listen on {}:{}: {}", address, port, std::strerror(errno)));
}

Result<Listener> Listener::in_folder(const std::string& folder, const std::string& name) {
  auto socket = socket_in(folder, name, "listen on", bind_and_listen);
  if (!socket.ok()) return socket.error();
  return Listener(std::move(*socket));
}

int Listener::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  const bool known =
      ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0;
  return known && address.sin_family == AF_INET ? int{ntohs(address.sin_port)} : 0;
}

Descriptor Listener::try_accept() const {
  return Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

Result<Descriptor> Listener::accept() const {
  constexpr int kPauseMilliseconds = 10;
  while (true) {
    Descriptor client = try_accept();
    if (client.get() >= 0) return client;
    if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK || errno == EOPNOTSUPP) {
      return failed(fmt::format("cannot take connections: {}", std::strerror(errno)));
    }
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
}

Result<Descriptor> connect_in_folder(const std::string& folder, const std::string& name) {
  return socket_in(folder, name, "speak to", ::connect);
}

Result<Descriptor> connect_to(const std::string& address, int port, Seconds limit) {
  in_addr host{};
  if (::inet_pton(AF_INET, address.c_str(), &host) != 1) {
    return bad_input(fmt::format("'{}' is not an address", printable(address)));
  }
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int cause =
      socket.get() < 0 ? errno : connect_within(socket.get(), address_of(host, port), limit);
  if (cause == 0) return socket;
  return failed(std::strerror(cause));
}

Result<int> free_loopback_port() {
  const auto listener = Listener::on(kLoopback, 0);
  if (!listener.ok()) return failed("no free port on loopback: " + listener.error().message);
  return listener->port();
}

}  // namespace stint
