#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A program that runs to its end while others are waited for, with what it printed. It is killed
/// with this object, and at its limit.
class CommandTask {
 public:
  static Result<CommandTask> start(Command command, Seconds limit);

  CommandTask(CommandTask&& other) noexcept;
  CommandTask& operator=(CommandTask&& other) noexcept;
  ~CommandTask();

  /// Reads what there is; the exit code once it has ended. A program that was killed at its limit
  /// has kTimedOut.
  std::optional<int> turn();
  static constexpr int kTimedOut = 124;  // As timeout(1) has it.

  const std::string& out() const { return out_text_; }
  const std::string& errors() const { return err_text_; }

 private:
  CommandTask(pid_t pid, Descriptor out, Descriptor err, Seconds limit);

  pid_t pid_ = -1;
  Descriptor out_;
  Descriptor err_;
  Deadline limit_;
  std::optional<int> code_ = {};
  std::string out_text_ = {};
  std::string err_text_ = {};
};

}  // namespace stint
