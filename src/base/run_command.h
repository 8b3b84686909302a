#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

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

/// Runs a command to its end. The error says the command and what it printed on its error stream.
Status run_command(const Words& words, Seconds limit = 10 * kSecond);
Status run_commands(const std::vector<Words>& commands);

}  // namespace stint
