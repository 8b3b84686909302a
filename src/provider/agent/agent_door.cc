#include "provider/agent/agent_door.h"

#include <fmt/format.h>

#include "base/text.h"
#include "checkpoint/secret.h"

namespace stint {

std::string_view AgentDoor::secret_for(const AgentHello& hello) const {
  if (secret_) return *secret_;
  return hello.secret ? std::string_view(*hello.secret) : std::string_view();
}

std::optional<AgentRefused> AgentDoor::refusal(const AgentHello& hello) const {
  if (hello.protocol != kAgentProtocol) {
    return AgentRefused{AgentRefusal::kProtocol,
                        fmt::format("stint {} speaks {}, not {}; run the same stint on both sides",
                                    version_, kAgentProtocol, printable(hello.protocol))};
  }
  if (!is_secret(secret_for(hello))) {
    return AgentRefused{AgentRefusal::kSecret, "the agent has no secret of the run"};
  }
  if (!session_) return std::nullopt;
  if (hello.run != run_ || hello.machine != machine_) {
    return AgentRefused{
        AgentRefusal::kMachine,
        fmt::format("the agent is that of {} of the run {}, not of {} of {}", printable(machine_),
                    printable(run_), printable(hello.machine), printable(hello.run))};
  }
  // One session at a time: another one takes over only with a higher attempt.
  if (hello.session != *session_ && hello.attempt <= attempt_) {
    return AgentRefused{AgentRefusal::kAttempt,
                        fmt::format("attempt {} of the run has taken over, this is attempt {}",
                                    attempt_, hello.attempt)};
  }
  return std::nullopt;
}

AgentNews AgentDoor::greet(const AgentHello& hello, const std::string& nonce) const {
  if (const auto refused = refusal(hello)) return {.refused = refused};
  return {.welcome = AgentWelcome{
              .version = version_,
              .agent = agent_,
              .nonce = nonce,
              .proof = agent_proof(secret_for(hello), AgentSide::kAgent, hello, nonce)}};
}

std::optional<AgentDoor::Entry> AgentDoor::prove(const AgentHello& hello, const std::string& nonce,
                                                 std::string_view proof) {
  // Another runner may have entered since the welcome.
  if (refusal(hello)) return std::nullopt;
  const std::string secret(secret_for(hello));
  if (!same_text(agent_proof(secret, AgentSide::kRunner, hello, nonce), proof)) {
    return std::nullopt;
  }
  const Entry entry{.renewed = session_ == hello.session};
  secret_ = secret;
  session_ = hello.session;
  run_ = hello.run;
  machine_ = hello.machine;
  if (!entry.renewed) attempt_ = hello.attempt;
  return entry;
}

}  // namespace stint
