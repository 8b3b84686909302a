#pragma once

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"

namespace stint {

/// A process that kills process groups when this one ends, however it ends. The kernel ends only
/// the children of a process that is killed, not theirs.
class AgentGuard {
 public:
  /// Starts it; this process may have no threads.
  static Result<AgentGuard> start();

  void watch(pid_t group);
  void forget(pid_t group);

 private:
  explicit AgentGuard(Descriptor to) : to_(std::move(to)) {}

  Descriptor to_;
};

}  // namespace stint
