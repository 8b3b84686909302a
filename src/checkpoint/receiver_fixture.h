#pragma once

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/connection.h"
#include "base/listener.h"
#include "base/process.h"
#include "base/text.h"
#include "checkpoint/proven_channel.h"
#include "checkpoint/receiver.h"
#include "checkpoint/receiver_client.h"
#include "checkpoint/receiver_protocol.h"
#include "checkpoint/secret.h"

namespace stint {

inline constexpr Seconds kTestPatience = kMinute;  // Long enough for a busy computer.

/// A receiver in a separate process, which is killed when this goes out of scope.
class ReceiverProcess {
 public:
  explicit ReceiverProcess(const ReceiverTerms& terms, const std::string& crash_at = "")
      : secret_(terms.secret) {
    const auto serve = [&](int report) {
      ::setenv("STINT_CRASH_AT", crash_at.c_str(), 1);
      auto receiver = Receiver::open(terms);
      if (!receiver.ok()) return 1;
      write_all(report, std::to_string(receiver->port()) + "\n");
      return receiver->serve().ok() ? 0 : 1;
    };
    const auto child = fork_child(serve, {.death_signal = SIGKILL});
    CHECK(child.ok());
    pid_ = child->pid;
    port_ = parse_int(read_line(child->report.get(), kTestPatience)).value_or(0);
  }
  ReceiverProcess(const ReceiverProcess&) = delete;
  ReceiverProcess& operator=(const ReceiverProcess&) = delete;
  ~ReceiverProcess() { kill(); }

  /// Kill −9; returns when the process has ended.
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }

  /// Its exit code.
  int wait() { return pid_ > 0 ? wait_for_exit(std::exchange(pid_, -1)) : 0; }

  ReceiverPlace place() const { return {.address = "127.0.0.1", .port = port_, .secret = secret_}; }

  Result<ReceiverClient> client() const { return ReceiverClient::connect(place(), kTestPatience); }

  /// A connection on which nothing was sent yet.
  Connection stranger() const {
    auto socket = connect_to("127.0.0.1", port_, kTestPatience);
    CHECK(socket.ok());
    return {std::move(*socket), kTestPatience};
  }

  /// A proven connection, for requests that no client of ours makes.
  ProvenChannel friend_of() const {
    auto channel = ProvenChannel::of_client(stranger(), secret_, kTestPatience);
    CHECK(channel.ok());
    return std::move(*channel);
  }

 private:
  std::string secret_;
  pid_t pid_ = -1;
  int port_ = 0;
};

}  // namespace stint
