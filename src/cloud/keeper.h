#pragma once

#include <string>

#include "cloud/cgroup.h"
#include "cloud/cluster_spec.h"

namespace stint {

/// The inputs of a keeper.
struct KeeperStart {
  ClusterSpec spec;
  std::string folder;   // Folder of its files.
  CgroupPlace cgroups;  // Place of the cgroups that set quotas.
  int range = 77;       // Number of the address range; see free_range.
  bool user_namespace = false;
  int listener = -1;         // Socket of its clients.
  int report = -1;           // Pipe for one "ok" or error.
  int maker = -1;            // Pipe that is closed when the maker ends.
  std::string stop_at = {};  // The step of creation to hang at, for tests.
};

/// The report of a keeper that is ready.
inline constexpr const char* kReady = "ok";

/// The main function of the keeper of a cluster, the first process of its own namespaces: it makes
/// the switch and the VMs, reports this, and answers requests until it is told to end. If it dies
/// for any reason, the kernel ends all processes and namespaces of the cluster.
[[noreturn]] void run_keeper(KeeperStart start);

/// Hangs for ever if this is the step to hang at.
void hang_at(const std::string& stop_at, const std::string& step);

}  // namespace stint
