#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "base/process.h"
#include "base/result.h"
#include "provider/machine.h"

namespace stint {

/// What rents machines, through calls that may take their time or never answer. An error of a call
/// says that nobody knows what became of it; the call may be repeated.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Asks for a machine; nothing: it is accepted. Orders of one name are one order, whoever asked
  /// first, also a process that has ended since.
  virtual Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const = 0;

  /// Gives a machine back, or withdraws its order. A machine that is gone or that never was is no
  /// error.
  virtual Status release(const std::string& name) const = 0;

  virtual Result<MachineList> look() const = 0;

  /// Starts a program on a machine that is up, as a child process.
  virtual Result<pid_t> spawn(const std::string& name, Command command) const = 0;
};

}  // namespace stint
