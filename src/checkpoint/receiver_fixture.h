#pragma once

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/connection.h"
#include "base/text.h"
#include "checkpoint/receiver.h"
#include "checkpoint/receiver_client.h"
#include "checkpoint/receiver_protocol.h"
#include "checkpoint/secret.h"

namespace stint {

inline constexpr Seconds kTestPatience = kMinute;  // Computers may be busy.

/// A receiver in a process of its own, which is killed when this goes out of scope.
class ReceiverProcess {
 public:
  explicit ReceiverProcess(const ReceiverTerms& terms, const std::string& crash_at = "")
      : secret_(terms.secret) {
    auto pipe = make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setenv("STINT_CRASH_AT", crash_at.c_str(), 1);
      auto receiver = Receiver::open(terms);
      if (!receiver.ok()) ::_exit(1);
      write_all(pipe->to.get(), std::to_string(receiver->port()) + "\n");
      ::_exit(receiver->serve().ok() ? 0 : 1);
    }
    pipe->to.close();
    port_ = parse_int(read_line(pipe->from.get(), kTestPatience)).value_or(0);
  }
  ReceiverProcess(const ReceiverProcess&) = delete;
  ReceiverProcess& operator=(const ReceiverProcess&) = delete;
  ~ReceiverProcess() { kill(); }

  /// Kill −9; returns when it is gone.
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }

  /// How it ended, as waitpid says.
  int wait() {
    int status = 0;
    if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

  ReceiverPlace place() const { return {.address = "127.0.0.1", .port = port_, .secret = secret_}; }

  Result<ReceiverClient> client() const { return ReceiverClient::connect(place(), kTestPatience); }

  /// A connection on which nothing was said yet.
  Connection stranger() const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool connected =
        ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    CHECK(connected);
    return {std::move(socket), kTestPatience};
  }

  /// One that has proven to know the secret, for requests that no client of ours makes.
  Connection friend_of() const {
    Connection connection = stranger();
    const auto greeting = connection.read_line(kReceiverLineMax);
    CHECK(greeting.has_value());
    const std::string nonce = greeting->substr(kReceiverGreeting.size());
    CHECK(connection.write(proof_of(secret_, nonce) + "\n"));
    return connection;
  }

 private:
  std::string secret_;
  pid_t pid_ = -1;
  int port_ = 0;
};

}  // namespace stint
