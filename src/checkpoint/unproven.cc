#include "checkpoint/unproven.h"

#include <sys/socket.h>

namespace stint {

std::uint64_t Unproven::enter(int socket) {
  std::unique_lock lock(mutex_);
  while (sockets_.size() >= most_) {
    const std::uint64_t oldest = sockets_.begin()->first;
    // Its owner, who waits for the client, finds the connection closed and leaves.
    ::shutdown(sockets_.begin()->second, SHUT_RDWR);
    left_.wait(lock, [&] { return !sockets_.contains(oldest); });
  }
  sockets_[next_] = socket;
  return next_++;
}

void Unproven::leave(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  sockets_.erase(number);
  left_.notify_all();
}

}  // namespace stint
