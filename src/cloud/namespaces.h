#pragma once

#include <functional>
#include <sys/types.h>

#include "base/result.h"
#include "cloud/cgroup.h"

namespace stint {

/// The features of this computer that the emulated cloud needs, tried in namespaces that are
/// removed afterwards.
struct HostSupport {
  Status namespaces;            // Unavailable without root and user namespaces.
  bool user_namespace = false;  // The emulated cloud would run without root.
  Status network;               // Bridges and the program ip.
  Status shaping;               // HTB and the program tc.
  CgroupPlace cgroups;
  bool quotas = false;  // Cgroups may be made.
};

HostSupport examine_host();

/// A process in its own namespaces: processes, network, mounts, and users where needed.
struct Newborn {
  pid_t pid = 0;  // 0 in the new process itself.
  bool user_namespace = false;
};

/// Starts a process as the first one of new namespaces: as root directly, else as the root of a new
/// user namespace. It begins after `before_it_begins`, called in its parent with its pid, has
/// succeeded; if the parent dies earlier, so does it. Unavailable where the kernel allows neither.
/// The caller must have no threads, such as a process that was just forked.
Result<Newborn> clone_apart(const std::function<Status(pid_t)>& before_it_begins);

}  // namespace stint
