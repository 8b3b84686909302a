#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// While it lives, signals that ask this process to end (SIGINT, SIGTERM, SIGHUP) are only noted.
/// A reader who closes our output (SIGPIPE) ends nothing. There may be one of these at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether one came since the last call.
  static bool take();

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  std::array<struct sigaction, 4> before_ = {};
};

/// A program and its arguments.
using Words = std::vector<std::string>;

/// A program and the world it finds.
struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> variables = {};  // Besides ours, or instead of them.
};

/// How programs that ran together came to their end.
struct ProcessesEnd {
  enum class Cause {
    kEnded,        // By themselves; or one failed, and the others were ended after a while.
    kTimeLimit,    // They were ended.
    kInterrupted,  // We got a signal to end; it was passed on.
  };
  Cause cause = Cause::kEnded;
  std::vector<int> codes;  // By command; 128 + the number of a signal that ended it.

  /// The first code that is not 0, or 0; ended ones of a group are no first.
  int code = 0;
};

/// Runs the commands at once and waits until all have ended. Their output goes to `output`, or to
/// our standard error without one; their input is empty. Each is the head of a process group of its
/// own, of which nobody is spared when this returns, and which the kernel ends if we die. SIGINT,
/// SIGTERM and SIGHUP are passed on; what has not ended 5 s later is killed. Where one fails the
/// others have 10 s to follow. Unavailable: a program that cannot be started.
Result<ProcessesEnd> run_together(std::span<const Command> commands, Seconds limit,
                                  const std::optional<std::string>& output = {});

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

/// Runs a command to its end. The error says the command and what it printed on its error stream.
Status run_command(const Words& words, Seconds limit = 10 * kSecond);
Status run_commands(const std::vector<Words>& commands);

/// The file that `program` stands for, searched in PATH as a shell does; nothing if there is none.
std::optional<std::string> program_path(const std::string& program);

/// A TCP port of the loopback interface that nothing listens on at the moment.
Result<int> free_loopback_port();

}  // namespace stint
