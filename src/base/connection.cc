#include "base/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace stint {
namespace {

constexpr Seconds kShutdownPatience = 2 * kSecond;
constexpr std::int64_t kShutdownBytes = 64 << 20;  // Bytes that are read and discarded at the end.

}  // namespace

Connection::Connection(Descriptor socket, Seconds patience)
    : socket_(std::move(socket)), patience_(patience) {
  const int yes = 1;  // Answers are short, and awaited.
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

void Connection::set_limit(std::optional<Seconds> limit) {
  limit_.reset();
  if (limit) limit_.emplace(*limit);
}

bool Connection::wait(short events) const {
  return wait_for(socket_.get(), events, limit_ ? std::min(patience_, limit_->left()) : patience_);
}

std::size_t Connection::receive(char* buffer, std::size_t bytes) {
  while (!limit_ || !limit_->passed()) {
    const ssize_t got = ::recv(socket_.get(), buffer, bytes, MSG_DONTWAIT);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !wait(POLLIN)) return 0;
  }
  return 0;
}

bool Connection::read(char* buffer, std::size_t bytes) {
  const std::size_t known = std::min(bytes, ahead_.size());
  if (known > 0) std::memcpy(buffer, ahead_.data(), known);
  ahead_.erase(0, known);
  for (std::size_t at = known; at < bytes;) {
    const std::size_t got = receive(buffer + at, bytes - at);
    if (got == 0) return false;
    at += got;
  }
  return true;
}

std::optional<std::string> Connection::read_line(std::size_t longest) {
  while (true) {
    const std::size_t end = ahead_.find('\n');
    if (end != std::string::npos && end <= longest) {
      std::string line = ahead_.substr(0, end);
      ahead_.erase(0, end + 1);
      return line;
    }
    if (ahead_.size() > longest) return std::nullopt;
    std::array<char, 512> buffer{};
    const std::size_t got = receive(buffer.data(), buffer.size());
    if (got == 0) return std::nullopt;
    ahead_.append(buffer.data(), got);
  }
}

bool Connection::skip(std::int64_t bytes) {
  std::string buffer(static_cast<std::size_t>(std::min<std::int64_t>(bytes, 1 << 16)), '\0');
  while (bytes > 0) {
    const std::int64_t some = std::min(bytes, static_cast<std::int64_t>(buffer.size()));
    if (!read(buffer.data(), static_cast<std::size_t>(some))) return false;
    bytes -= some;
  }
  return true;
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !wait(POLLOUT)) return false;
  }
  return true;
}

void Connection::close_sending() { ::shutdown(socket_.get(), SHUT_WR); }

void Connection::finish() {
  close_sending();
  patience_ = kShutdownPatience;
  set_limit(kShutdownPatience);
  skip(kShutdownBytes);
}

}  // namespace stint
