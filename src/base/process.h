#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// While it lives, signals that ask this process to end are only noted. A reader who closes our
/// output (SIGPIPE) ends nothing where that is among them, and SIGHUP stays ignored under nohup.
/// There may be one of these at a time.
class StopSignals {
 public:
  explicit StopSignals(std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The last one that came since the last call, or 0.
  static int take();

 private:
  std::vector<int> signals_;
  std::vector<struct sigaction> before_;
};

/// A program and its arguments.
using Words = std::vector<std::string>;

/// Whom signals to a process also reach.
enum class ProcessGroup { kOurs, kOwn, kOwnSession };

/// A program and the world it finds.
struct Command {
  Words words;
  std::vector<std::string> variables = {};  // "NAME=value", beside ours or instead of them.
  int in = 0;                               // Where it reads from.
  int out = 1;                              // Where its output goes.
  int err = 2;
  std::string folder = {};  // To run in; empty: the one we are in.
  ProcessGroup group = ProcessGroup::kOwn;
  bool dies_with_parent = true;  // It is killed when the thread that started it ends.

  /// Descriptors from 3 on that stay open under their numbers, and no others. Nothing: those that
  /// are not closed on exec.
  std::optional<std::vector<int>> kept = {};

  /// Enters other namespaces or a cgroup first. It runs in a process between, which forks the
  /// program's and ends, for a process stays in the namespace of processes that it was born in.
  std::function<Status()> enter = {};
};

/// Variables as a Command takes them.
std::vector<std::string> assignments(const std::map<std::string, std::string>& variables);

/// Starts a program as a child of ours. It has no signals blocked, and those that ask to end mean
/// to it what they mean by default. The error of a program that cannot be started is unavailable
/// and names what failed: "train: No such file or directory".
Result<pid_t> start_process(const Command& command);

/// A process of ours and what it says.
struct Child {
  pid_t pid = -1;
  Descriptor report = {};
};

/// What binds a forked process to us.
struct ChildTerms {
  ProcessGroup group = ProcessGroup::kOurs;
  int death_signal = 0;  // That it gets when the thread that forked it ends; 0: none.
};

/// Forks a process that ends with the exit code that `body` returns. What `body` writes to the
/// descriptor it is given is read from the child's report, which it may close early.
Result<Child> fork_child(const std::function<int(int report)>& body, const ChildTerms& terms = {});

/// The pid of a new process in fresh namespaces (`flags` of clone), 0 in that process itself.
/// Negative: the error, as −errno. The caller has no threads.
pid_t clone_process(std::uint64_t flags);

/// A descriptor that is readable once the process ended; none where the kernel has no such.
Descriptor open_process(pid_t pid);

/// The exit code of a status of waitpid, as shells count: 128 and more for signals.
int exit_code_of(int status);

/// The exit code of a child that ended; it is gone then. Nothing while it runs.
std::optional<int> exit_code_if_ended(pid_t child);

/// Waits for the end of a child; the limited one returns nothing when `limit` passed first.
int wait_for_exit(pid_t child);
std::optional<int> wait_for_exit(pid_t child, Seconds limit);

/// Kills a child and the group that it leads, if any, and returns its exit code.
int kill_group(pid_t child);

/// Children that are waited for together, each at the head of a group. Those that still run are
/// killed with their groups when it goes out of scope.
class Children {
 public:
  Children() = default;
  ~Children() { kill_all(); }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void add(pid_t child) { all_.push_back({.pid = child, .process = open_process(child)}); }

  /// Those that ended since the last call, numbered in the order in which they were added.
  std::vector<std::size_t> reap();

  /// Returns when one has ended, a signal came, or `limit` passed.
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

/// A process and when it began, so that a number that was given out anew is not taken for it.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t start = 0;  // In ticks of the kernel since it booted.
  std::string boot = {};   // Which boot that was.

  bool operator==(const ProcessId&) const = default;
};

/// Nothing when there is no such process, or only its remains.
std::optional<ProcessId> process_id(std::int64_t pid);

/// The start time in a line of /proc/PID/stat; nothing for a process that is dead or no process.
std::optional<std::int64_t> start_of(const std::string& stat);

bool is_alive(const ProcessId& process);

/// Whether a process is still there, but was killed or exits. The first process of a PID namespace
/// stays until all others of the namespace are gone and were waited for.
bool is_ending(const ProcessId& process);

/// By a line of /proc/PID/stat.
bool is_ending(const std::string& stat);

}  // namespace stint
