#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/result.h"

namespace stint {

/// Two directions to an agent. A process carries them, such as ssh, srun, or the agent itself in a
/// namespace; it ends with this object.
class AgentStream {
 public:
  using Start = std::function<Result<pid_t>(Command)>;

  AgentStream() = default;
  AgentStream(AgentStream&& other) noexcept;
  AgentStream& operator=(AgentStream&& other) noexcept;
  ~AgentStream() { end(); }

  /// The stream of a program's standard input and output. `start` starts it as a child process that
  /// leads its group.
  static Result<AgentStream> open(Command command, const Start& start = start_process);

  bool is_open() const { return carrier_ >= 0; }

  // Neither blocks.
  int from() const { return from_.get(); }  // What the agent says.
  int to() const { return to_.get(); }      // What it hears.

  /// The exit code of the carrier, once it has ended.
  std::optional<int> ended();

  /// The last line that the carrier printed to its standard error; for error messages.
  std::string complaint();

  /// Ends the carrier.
  void end();

 private:
  Descriptor from_ = {};
  Descriptor to_ = {};
  Descriptor errors_ = {};
  pid_t carrier_ = -1;
  std::optional<int> code_ = {};
  std::string heard_ = {};  // The end of what it printed to its standard error.
};

}  // namespace stint
