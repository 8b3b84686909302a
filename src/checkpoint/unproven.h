#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace stint {

/// The sockets of clients that have not proven the secret yet. There are at most so many: when
/// another one comes, the oldest is shut down, so that idle strangers shut nobody out. May be used
/// from several threads at once.
class Unproven {
 public:
  explicit Unproven(std::size_t most) : most_(most) {}

  /// Adds a socket, which stays open until its owner calls `leave`. Shuts down the oldest ones
  /// first where there is no place, and waits until their owners have left.
  std::uint64_t enter(int socket);

  /// The client has proven the secret, or is given up.
  void leave(std::uint64_t number);

 private:
  std::size_t most_;
  std::mutex mutex_;  // Guards the following members.
  std::condition_variable left_;
  std::map<std::uint64_t, int> sockets_;  // In the order of their arrival.
  std::uint64_t next_ = 0;
};

}  // namespace stint
