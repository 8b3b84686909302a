#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "provider/agent/agent_outbox.h"
#include "provider/agent/agent_protocol.h"
#include "provider/agent/agent_stream.h"
#include "provider/agent/agent_wire.h"

namespace stint {

/// Whom a link calls, and as whom.
struct AgentCall {
  std::string version = {};  // Of this program.
  std::string run = {};
  std::string machine = {};
  std::int64_t attempt = 0;
  std::string secret = {};
  bool trusted = false;  // The streams may carry the secret to an agent that has none.
  AgentTerms terms = {};
};

/// The state of a link.
enum class LinkState {
  kAway,     // No stream; the next call comes by itself.
  kCalling,  // A stream on which one side has not proven the secret yet.
  kJoined,
  kRefused,  // For good: calling again cannot help.
  kLeft      // The agent said that it ends, and its stream has ended.
};

/// What a link heard.
struct LinkNews {
  std::vector<AgentNews> news = {};        // Numbered ones, each once and in order.
  std::optional<AgentJoined> joined = {};  // It has joined since the last time.
  bool replaced = false;  // Another agent is there: what the one before ran has ended with it.
};

/// The runner's side of an agent: keeps orders until the agent has them, renews the lease, and
/// calls again after a cut. Nothing waits; turn() does what can be done now. Requires that SIGPIPE
/// is ignored (see StopSignals). Times are of one steady clock.
class AgentLink {
 public:
  using Reach = std::function<Result<AgentStream>()>;

  AgentLink(AgentCall call, Reach reach);

  /// Gives an order, whose number is set here. An error when the agent has not taken the orders
  /// before it for so long that they fill their room.
  Status send(AgentOrder order);

  LinkNews turn(Seconds now);

  /// What to wait for before the next turn, which is also due at wakes_at().
  void add_polls(std::vector<pollfd>& polls) const;
  Seconds wakes_at() const;

  LinkState state() const { return state_; }
  bool idle() const { return orders_.empty(); }  // The agent has all orders.

  /// Why the last stream ended, and the exit code of its carrier where that was the reason.
  const std::string& trouble() const { return trouble_; }
  std::optional<int> carrier_code() const { return carrier_code_; }
  const std::optional<AgentRefused>& refused() const { return refused_; }

  /// Messages of workers of older attempts, which were dropped.
  std::int64_t outdated() const { return outdated_; }

  /// Ends the stream; the agent and its processes stay.
  void hang_up();

 private:
  void dial(Seconds now);
  void put_terms();
  void put_leave();
  bool hear(std::string_view line, LinkNews& heard);
  bool on_welcome(const AgentWelcome& welcome);
  bool on_joined(const AgentJoined& joined, LinkNews& heard);
  bool on_numbered(AgentNews news, LinkNews& heard);
  bool cut(const std::string& why);
  bool refuse(const AgentRefused& why);
  void await_carrier(Seconds now);
  void write();
  void check_silence(Seconds now);
  Seconds renewal() const;

  AgentCall call_;
  Reach reach_;
  AgentStream stream_ = {};
  AgentWire wire_ = {};
  AgentHello hello_ = {};
  std::string session_;
  std::optional<std::string> agent_ = {};  // The one that joined last.
  std::optional<AgentWelcome> welcome_ = {};
  AgentOutbox orders_;
  AgentInbox inbox_;
  bool heard_due_ = false;
  std::optional<Seconds> ending_ = {};  // Since when the stream is at its end.
  bool heard_any_ = false;              // In this turn.

  LinkState state_ = LinkState::kAway;
  Seconds now_ = {};
  Seconds heard_at_ = {};
  Seconds renew_at_ = {};
  Seconds joined_at_ = {};
  Seconds call_at_ = {};
  Seconds pause_ = {};  // Before the next call.
  std::string trouble_ = {};
  std::optional<int> carrier_code_ = {};
  std::optional<AgentRefused> refused_ = {};
  std::int64_t outdated_ = 0;
  bool leave_ordered_ = false;
  bool leaving_ = false;  // The agent said so.
};

}  // namespace stint
