#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/cluster_status.h"
#include "cloud/local_cluster.h"

namespace stint {

/// A program to run once on each of some VMs, as PyTorch's launchers do.
struct ExecRequest {
  Words command;
  std::vector<std::string> vms = {};        // Empty: all VMs that are up.
  std::vector<std::string> variables = {};  // "NAME=value", beside those of its rank.
  int port = 29500;                         // Port of the first VM's process: PyTorch's default.
};

/// The place of a process among all, and among those of its VM. VMs are counted too.
struct RankPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;
  int local_ranks = 1;
  int vm = 0;
  int vms = 1;
};

/// The environment of each process: its rank and the address of the first one.
std::vector<std::string> rank_variables(const RankPlace& at, const std::string& master, int port);

/// Receives a line that a VM printed, to its output or its error stream.
using PrintLine = std::function<void(std::string_view vm, bool error, std::string_view line)>;

/// Runs the program to its end on all of the VMs and returns the exit code of the first that
/// failed, 0 if none did, and 130 after an interrupt. After a failure or an interrupt all are
/// killed.
Result<int> exec_all(const LocalCluster& cluster, const ExecRequest& request,
                     const PrintLine& print);

}  // namespace stint
