#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// The way in which programs that ran together ended.
struct ProcessesEnd {
  enum class Cause {
    kEnded,  // They ended by themselves; or one failed, and the others were ended after a while.
    kTimeLimit,    // They were ended.
    kInterrupted,  // We received a signal to end, which was passed on.
  };
  Cause cause = Cause::kEnded;
  std::vector<int> codes;  // By command; 128 + the number of a signal that ended it.

  /// The first code that is not 0, or 0; the codes of programs that were ended do not count as
  /// first.
  int code = 0;
};

/// Runs the commands at once and waits until all have ended. Their output goes to `output`, or to
/// our standard error without one; their input is empty. Each leads its own process group, all of
/// which has ended when this returns, and which the kernel ends if we die. SIGINT, SIGTERM and
/// SIGHUP are passed on; processes that have not ended 5 s later are killed. Where one fails the
/// others have 10 s to end. Unavailable: a program that cannot be started.
Result<ProcessesEnd> run_together(std::span<const Command> commands, Seconds limit,
                                  const std::optional<std::string>& output = {});

/// Runs a command to its end. The error names the command and contains its error output.
Status run_command(const Words& words, Seconds limit = 10 * kSecond);
Status run_commands(const std::vector<Words>& commands);

}  // namespace stint
