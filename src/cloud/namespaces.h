#pragma once

#include <cstdint>
#include <functional>
#include <sys/types.h>

#include "base/result.h"

namespace stint {

/// A process in namespaces of its own: processes, network, mounts, and users where it takes that.
struct Newborn {
  pid_t pid = 0;  // 0: we are it.
  bool user_namespace = false;
};

/// Starts a process as the first one of fresh namespaces: as root directly, else as the root of a
/// fresh user namespace. It begins after `before_it_begins`, called in its parent with its pid,
/// said yes; if the parent dies earlier, so does it. Unavailable where the kernel allows neither.
/// The caller has no threads; a process that was just forked has none.
Result<Newborn> clone_apart(const std::function<Status(pid_t)>& before_it_begins);

/// The pid of a new process in fresh namespaces (`flags` of clone), 0 in that process itself.
/// Negative: the error, as −errno. The caller has no threads.
pid_t clone_process(std::uint64_t flags);

}  // namespace stint
