#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// While this object exists, signals that ask this process to end are only recorded. A reader that
/// closes our output (SIGPIPE) ends nothing where that is among them, and SIGHUP stays ignored
/// under nohup. There may be only one such object at a time.
class StopSignals {
 public:
  explicit StopSignals(std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The last signal received since the last call, or 0.
  static int take();

 private:
  std::vector<int> signals_;
  std::vector<struct sigaction> before_;
};

/// A program and its arguments.
using Words = std::vector<std::string>;

/// The processes that signals to a process also reach.
enum class ProcessGroup { kOurs, kOwn, kOwnSession };

/// A program and its environment.
struct Command {
  Words words;
  std::vector<std::string> variables = {};  // "NAME=value", added to ours or replacing them.
  /// Decides by the name whether the program gets a variable of ours; nothing: it gets all.
  std::function<bool(std::string_view name)> inherits = {};
  int in = 0;   // Standard input.
  int out = 1;  // Standard output.
  int err = 2;
  std::string folder = {};  // Working folder; empty: the present one.
  ProcessGroup group = ProcessGroup::kOwn;
  bool dies_with_parent = true;  // It is killed when the thread that started it ends.

  /// Descriptors from 3 on that stay open under their numbers, and no others. Nothing: those that
  /// are not closed on exec.
  std::optional<std::vector<int>> kept = {};

  /// Enters other namespaces or a cgroup first. It runs in an intermediate process, which forks the
  /// program's and ends, because a process stays in the PID namespace in which it was created.
  std::function<Status()> enter = {};
};

/// The names of our own variables.
std::vector<std::string> variable_names();

/// Variables in the form of a Command.
std::vector<std::string> assignments(const std::map<std::string, std::string>& variables);

/// Starts a program as a child process. It has no signals blocked, and default handlers for those
/// that ask it to end. The error of a program that cannot be started is unavailable and names the
/// cause: "train: No such file or directory".
Result<pid_t> start_process(const Command& command);

/// A child process and its report.
struct Child {
  pid_t pid = -1;
  Descriptor report = {};
};

/// The relation of a forked process to this one.
struct ChildTerms {
  ProcessGroup group = ProcessGroup::kOurs;
  int death_signal = 0;  // Signal to it when the thread that forked it ends; 0: none.
};

/// Forks a process that ends with the exit code that `body` returns. Bytes that `body` writes to
/// its descriptor are read from the child's report, which it may close early.
Result<Child> fork_child(const std::function<int(int report)>& body, const ChildTerms& terms = {});

/// The pid of a new process in new namespaces (`flags` of clone), 0 in that process itself.
/// Negative: the error, as −errno. The caller must have no threads.
pid_t clone_process(std::uint64_t flags);

/// A descriptor that is readable once the process ended; none where the kernel does not support it.
Descriptor open_process(pid_t pid);

/// The exit code of a status of waitpid, as in shells: 128 and more for signals.
int exit_code_of(int status);

/// The exit code of a child that ended, which is reaped. Nothing while it runs.
std::optional<int> exit_code_if_ended(pid_t child);

/// Waits for the end of a child; the version with a limit returns nothing when `limit` passed
/// first.
int wait_for_exit(pid_t child);
std::optional<int> wait_for_exit(pid_t child, Seconds limit);

/// Kills a child and the group that it leads, if any, and returns its exit code.
int kill_group(pid_t child);

/// Children that are waited for together, each the leader of a group. Those that still run are
/// killed with their groups when this object goes out of scope.
class Children {
 public:
  Children() = default;
  ~Children() { kill_all(); }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void add(pid_t child) { all_.push_back({.pid = child, .process = open_process(child)}); }

  /// Children that ended since the last call, numbered in the order in which they were added.
  std::vector<std::size_t> reap();

  /// Returns when one has ended, a signal was received, or `limit` passed.
  void wait(Seconds limit) const;

  void signal_all(int signal) const;
  void kill_all();

  bool running() const;
  pid_t pid(std::size_t number) const { return all_[number].pid; }
  int code(std::size_t number) const { return all_[number].code.value_or(0); }
  std::vector<int> codes() const;

  /// The first code that was not 0, or 0.
  int first_failure() const { return first_failure_; }

 private:
  struct One {
    pid_t pid = -1;
    Descriptor process = {};
    std::optional<int> code = {};  // Nothing while it runs.
  };

  void note_end(One& one, int code);

  std::vector<One> all_;
  int first_failure_ = 0;
};

/// A process and its start time, so that a reused process id is not mistaken for it.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t start = 0;  // In ticks of the kernel since it booted.
  std::string boot = {};   // Id of that boot.

  bool operator==(const ProcessId&) const = default;
};

/// Nothing when there is no such process, or only a zombie.
std::optional<ProcessId> process_id(std::int64_t pid);

/// The start time in a line of /proc/PID/stat; nothing for a dead process or another text.
std::optional<std::int64_t> start_of(const std::string& stat);

bool is_alive(const ProcessId& process);

/// Whether a process still exists, but was killed or exits. The first process of a PID namespace
/// stays until all others of the namespace have ended and were waited for.
bool is_ending(const ProcessId& process);

/// The same for a line of /proc/PID/stat.
bool is_ending(const std::string& stat);

}  // namespace stint
