#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "base/units.h"
#include "provider/machine.h"

namespace stint {

/// An engine that does not answer. What it was asked is asked again, with growing pauses.
struct EngineTrouble {
  Error error;
  int failures = 0;  // In a row.
};

/// What is known at a moment.
struct ProviderNews {
  /// A look at all machines that was not in the news before, and when it began, in boot time.
  std::optional<MachineList> list = {};
  Seconds listed_at = {};
  std::vector<MachineRefusal> refused = {};   // Since the last news.
  std::vector<OwedRelease> owed = {};         // All of them.
  std::optional<EngineTrouble> trouble = {};  // Of looks; nothing while they are answered.
};

/// Rents machines for one run. No function waits, and no caller repeats anything: an order counts
/// until the machine is there or refused, a release until the machine is gone. An engine that times
/// out or throttles is in trouble, and nothing is refused or gone because of that.
class Provider {
 public:
  virtual ~Provider() = default;

  /// Asks for a machine. Orders of one name are one order.
  virtual void request(const MachineOrder& order) = 0;

  /// Gives a machine back, or withdraws its order.
  virtual void release(const std::string& name) = 0;

  virtual ProviderNews observe() = 0;

  /// Readable while there is news; none: the news is to be asked for now and then. Nobody else
  /// reads it.
  virtual int descriptor() const = 0;

  /// Starts a program on a machine that is up, as a child process of this one.
  virtual Result<pid_t> spawn(const std::string& name, Command command) = 0;
};

}  // namespace stint
