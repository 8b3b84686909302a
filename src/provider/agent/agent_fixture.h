#pragma once

#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/process.h"
#include "provider/agent/agent.h"
#include "provider/agent/agent_protocol.h"

namespace stint {

inline const std::string kTestSecret(64, 'a');
inline constexpr Seconds kTestPatience = 60 * kSecond;

/// One end of a stream to an agent, line by line and with waiting.
class AgentTalk {
 public:
  explicit AgentTalk(Descriptor socket) : socket_(std::move(socket)) {}

  void say_text(const std::string& text) { write_all(socket_.get(), text); }
  void say(const AgentOrder& order) { say_text(to_line(order)); }

  /// The next news; nothing at the end of the stream, or after a minute.
  std::optional<AgentNews> next() {
    const Deadline limit(kTestPatience);
    for (std::size_t end = 0; (end = bytes_.find('\n')) == std::string::npos;) {
      char buffer[65536];
      if (!wait_for(socket_.get(), POLLIN, limit.left())) return std::nullopt;
      const ssize_t got = ::read(socket_.get(), buffer, sizeof buffer);
      if (got <= 0) return std::nullopt;
      bytes_.append(buffer, static_cast<std::size_t>(got));
    }
    const std::size_t end = bytes_.find('\n');
    auto news = read_news(std::string_view(bytes_).substr(0, end));
    bytes_.erase(0, end + 1);
    if (!news.ok()) return std::nullopt;
    return std::move(*news);
  }

  /// The next news that `wanted` accepts; the others before it are in `skipped`.
  template <class Wanted>
  std::optional<AgentNews> next(Wanted wanted) {
    while (auto news = next()) {
      if (wanted(*news)) return news;
      skipped.push_back(std::move(*news));
    }
    return std::nullopt;
  }

  /// Joins as a session; the agent's answer.
  std::optional<AgentNews> join(const AgentHello& hello) {
    say({.hello = hello});
    auto news = next();
    if (!news || !news->welcome) return news;
    agent = news->welcome->agent;
    EXPECT_EQ(news->welcome->proof,
              agent_proof(kTestSecret, AgentSide::kAgent, hello, news->welcome->nonce));
    say({.proof = agent_proof(kTestSecret, AgentSide::kRunner, hello, news->welcome->nonce)});
    return next();
  }

  void close() { socket_.close(); }

  std::string agent = {};
  std::vector<AgentNews> skipped = {};

 private:
  Descriptor socket_;
  std::string bytes_ = {};
};

inline AgentHello test_hello(const std::string& session = "s", std::int64_t attempt = 1) {
  return {.version = "test",
          .run = "r",
          .machine = "vm1",
          .attempt = attempt,
          .session = session,
          .nonce = "n",
          .secret = kTestSecret};
}

inline ProcessStart test_shell(const std::string& script, int process = 0) {
  return {.process = process, .attempt = 9, .words = {"/bin/sh", "-c", script}};
}

}  // namespace stint
