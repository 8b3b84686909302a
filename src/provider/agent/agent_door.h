#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "provider/agent/agent_protocol.h"

namespace stint {

/// Who may give orders to an agent: decides on hellos and proofs. It uses no stream and no chance.
class AgentDoor {
 public:
  /// `agent` is the agent's random name. Without a secret the first runner that proves one sets it,
  /// with its run and machine: streams of an agent without a secret have to be trusted.
  AgentDoor(std::string agent, std::string version, std::optional<std::string> secret)
      : agent_(std::move(agent)), version_(std::move(version)), secret_(std::move(secret)) {}

  /// The answer to a hello on a stream for which `nonce` was chosen: welcome, or refused.
  AgentNews greet(const AgentHello& hello, const std::string& nonce) const;

  /// What a proof opens.
  struct Entry {
    bool renewed = false;  // The session goes on; otherwise it is a new one.
  };
  /// The answer to the proof that follows; nothing: it is wrong.
  std::optional<Entry> prove(const AgentHello& hello, const std::string& nonce,
                             std::string_view proof);

  /// Whether an order of this attempt is one of an earlier runner.
  bool is_outdated(std::int64_t attempt) const { return attempt < attempt_; }

  const std::string& agent() const { return agent_; }
  std::int64_t attempt() const { return attempt_; }

 private:
  std::optional<AgentRefused> refusal(const AgentHello& hello) const;

  /// The secret that applies to the hello.
  std::string_view secret_for(const AgentHello& hello) const;

  std::string agent_;
  std::string version_;
  std::optional<std::string> secret_;
  std::optional<std::string> session_ = {};  // None: nobody has entered yet.
  std::string run_ = {};
  std::string machine_ = {};
  std::int64_t attempt_ = 0;
};

}  // namespace stint
