#pragma once

#include <functional>
#include <sys/types.h>

#include "base/result.h"
#include "cloud/cgroup.h"

namespace stint {

/// What this computer can do for the emulated cloud, tried out in namespaces that are gone again
/// when the answer is there.
struct HostSupport {
  Status namespaces;            // Unavailable without root and user namespaces.
  bool user_namespace = false;  // It would work without root.
  Status network;               // Bridges and the program ip.
  Status shaping;               // HTB and the program tc.
  CgroupPlace cgroups;
  bool quotas = false;  // Cgroups may be made.
};

HostSupport examine_host();

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

}  // namespace stint
