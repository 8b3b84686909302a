#pragma once

#include <functional>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "provider/agent/agent_guard.h"
#include "provider/agent/agent_protocol.h"

namespace stint {

/// The processes of an agent: workers with their control sockets, and receivers. All end with this
/// object, and when this process is killed.
class AgentProcesses {
 public:
  struct Settings {
    std::string program = {};  // Ours; started for the word "stint".
    std::function<bool(std::string_view name)> inherits = {};  // Variables that all get.
  };
  /// Takes news whose number is not set yet.
  using Tell = std::function<void(AgentNews)>;
  /// Whether messages of workers are taken at the moment.
  using Takes = std::function<bool()>;

  AgentProcesses(Settings settings, std::optional<AgentGuard> guard)
      : settings_(std::move(settings)), guard_(std::move(guard)) {}
  ~AgentProcesses();
  AgentProcesses(const AgentProcesses&) = delete;
  AgentProcesses& operator=(const AgentProcesses&) = delete;

  /// Starts one whose number is free. STINT_CONTROL names a worker's socket.
  Result<ProcessStanding> start(const ProcessStart& order);

  /// A message to a worker; it waits while the worker does not read, up to a limit at which the
  /// socket is closed.
  Status tell(const ProcessTell& order);
  Status signal(const ProcessSignal& order);
  Status end(int process);

  void signal_workers(int signal) const;
  bool has_workers() const;
  void end_all();

  std::vector<ProcessStanding> standing() const;

  /// What to wait for, with or without messages of workers: those that are not taken stay where
  /// they are, so that the workers wait.
  void add_polls(std::vector<pollfd>& polls, bool messages) const;

  /// Reads what there is, writes what is waiting, and reaps: the end of a process comes after all
  /// that it said.
  void collect(const Takes& takes, const Tell& tell);

 private:
  struct Process {
    ProcessStanding standing = {};
    Descriptor pid = {};
    LineStream control = {};
    LineStream out = {};
    LineStream err = {};
    std::string unsent = {};       // To the control socket.
    std::optional<int> code = {};  // Of its end.
  };

  Result<Process*> find(int process);
  static void read_logs(Process& it, const Tell& tell);
  static void read_control(Process& it, const Tell& tell);
  static void write_control(Process& it);
  void reap(Process& it);

  Settings settings_;
  std::optional<AgentGuard> guard_;
  std::map<int, Process> processes_;
};

}  // namespace stint
