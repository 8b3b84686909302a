#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/listener.h"
#include "base/process.h"
#include "base/result.h"
#include "provider/agent/agent_door.h"
#include "provider/agent/agent_outbox.h"
#include "provider/agent/agent_processes.h"
#include "provider/agent/agent_protocol.h"
#include "provider/agent/agent_wire.h"

namespace stint {

struct AgentSettings {
  std::string version = {};
  AgentProcesses::Settings processes = {};
  std::optional<std::string> secret = {};  // Absent: that of the first runner.
};

/// The agent on a machine: starts processes for a runner, carries what they say, watches for
/// notices, and ends the work when no runner has renewed its lease. See agent_protocol.h. One
/// thread; while it works, this process handles SIGTERM as a notice and SIGINT as an order to
/// leave.
class Agent {
 public:
  Agent(AgentSettings settings, std::optional<AgentGuard> guard);

  /// A stream of a runner.
  void add_stream(Descriptor from, Descriptor to);

  /// Works until a runner orders it to leave, or the lease is over and the machine given back.
  /// Further streams come from the listener, if any.
  void work(const Listener* listener);

 private:
  struct Caller {
    Descriptor from = {};
    Descriptor to = {};  // None: the same as `from`.
    AgentWire wire = {};
    std::string nonce = {};
    std::optional<AgentHello> hello = {};
    bool proven = false;
    bool closing = false;  // Closed once what it is told has been written.
    Deadline patience;
  };
  enum class Phase {
    kWorking,
    kSaving,     // Workers were asked to end.
    kReleasing,  // The release command runs.
    kParting     // Nothing is left but to tell the runner.
  };

  void turn(const Listener* listener);
  std::vector<pollfd> polls(const Listener* listener) const;
  bool takes_messages() const;

  void read_callers();
  bool hear(Caller& caller, std::string_view line);
  bool greet(Caller& caller, const AgentHello& hello);
  bool prove(Caller& caller, const std::string& proof);
  bool refuse(Caller& caller, AgentRefusal cause, std::string reason);
  bool obey(Caller& caller, const AgentOrder& order);
  void act(const AgentOrder& order);
  void start(const ProcessStart& order);
  void set_terms(const AgentTerms& terms);
  void write_callers();
  void drop_callers();

  void hear_scout();
  void add_news(AgentNews news);
  void tell(AgentNews news);
  void take_signal();
  void follow_lease();
  void leave(const std::string& why, bool save);
  void release();

  AgentSettings settings_;
  AgentDoor door_;
  AgentOutbox outbox_;
  AgentInbox inbox_;
  AgentProcesses processes_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::map<int, std::int64_t> lost_;  // Log lines dropped, by process.
  bool heard_due_ = false;            // Orders are to be acknowledged.

  AgentTerms terms_;
  Seconds renewed_;  // By steady_now(): after a suspend the runner has its time to come back.
  Child scout_;
  LineStream scout_report_;
  std::optional<MachineFacts> facts_ = {};
  std::optional<MachineNotice> notice_ = {};

  Phase phase_ = Phase::kWorking;
  Seconds until_ = {};  // End of the phase, by steady_now().
  bool gives_back_ = false;
  pid_t releasing_ = -1;
};

}  // namespace stint
