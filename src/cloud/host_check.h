#pragma once

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

}  // namespace stint
