#pragma once

#include <string>

#include "cloud/cgroup.h"
#include "cloud/cluster_spec.h"

namespace stint {

/// What a keeper is given at its birth.
struct KeeperStart {
  ClusterSpec spec;
  std::string folder;   // Of its files.
  CgroupPlace cgroups;  // Where quotas are set.
  int range = 77;       // Of addresses; see free_range.
  bool user_namespace = false;
  int listener = -1;         // Where it is spoken to.
  int report = -1;           // Where "ok" or an error is said, once.
  int maker = -1;            // Ends with the maker.
  std::string stop_at = {};  // The step of creation to hang at, for tests.
};

/// How a keeper says that it is ready.
inline constexpr const char* kReady = "ok";

/// The life of the keeper of a cluster, as the first process of namespaces of its own: it makes the
/// switch and the VMs, says so, and answers until it is told to go down. Whatever happens to it,
/// with it die all processes and namespaces of the cluster, by the kernel.
[[noreturn]] void run_keeper(KeeperStart start);

/// Hangs for ever if this is the step to hang at.
void hang_at(const std::string& stop_at, const std::string& step);

}  // namespace stint
