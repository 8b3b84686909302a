#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "provider/engine.h"
#include "provider/ssh/command_task.h"
#include "provider/ssh/ssh_book.h"
#include "provider/ssh/ssh_command.h"
#include "provider/ssh/ssh_host.h"

namespace stint {

struct SshSettings {
  std::string folder = {};        // For the book of hosts.
  std::string binary = {};        // The program to copy to hosts,
  std::string hash = {};          // its SHA-256,
  std::string architecture = {};  // and what it is for, as uname has it.
  SshClient client = {};
  std::vector<SshHost> hosts = {};
  Seconds patience = 60 * kSecond;  // With a host that cannot be reached.
  Seconds look = 15 * kSecond;      // Between two looks at a host.
};

/// Machines that somebody has, reached by ssh. A request looks for a free host that can be used.
/// The program is copied there once for each version, and the host looked at now and then, whenever
/// look() is called, which never waits. One that cannot be reached for longer than `patience` is
/// lost. `clock` outlives it.
class SshEngine : public Engine {
 public:
  SshEngine(SshSettings settings, const Clock& clock)
      : settings_(std::move(settings)), clock_(clock) {}

  /// Ends the shared connections that it has used.
  ~SshEngine() override;

  Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const override;
  Status release(const std::string& name) const override;
  Result<MachineList> look() const override;

  /// The program "stint" is the copy. The environment is the host's, with the command's variables.
  Result<pid_t> spawn(const std::string& name, Command command) const override;

 private:
  enum class Step { kLook, kCopy };
  /// What is under way for a machine.
  struct Work {
    Step step = Step::kLook;
    std::optional<CommandTask> task = {};
    Seconds next = {};                   // Time of the next look, by steady_now().
    std::optional<Seconds> silent = {};  // Since when the host cannot be reached, by steady_now().
  };
  /// Why a host cannot be used.
  struct Trouble {
    SshFailure failure = SshFailure::kOther;
    std::string reason = {};
  };

  const SshHost* host_named(const std::string& name) const;
  Result<CommandTask> begin(const SshHost& host, Step step) const;
  std::optional<Trouble> trouble_of(const SshHost& host, Step step, const CommandTask& task,
                                    int code) const;
  Status note_trouble(const std::string& name, const SshHost& host, const Trouble& trouble) const;

  /// One turn of the work for a machine; the changes to its lease.
  void turn(Work& work, SshLease& lease, const SshHost& host) const;
  void finish(Work& work, SshLease& lease, const SshHost& host, int code) const;
  MachineState state_of(const SshLease& lease) const;

  SshSettings settings_;
  const Clock& clock_;
  mutable std::map<std::string, Work> works_;  // By machine; only of the process that looks.
};

}  // namespace stint
