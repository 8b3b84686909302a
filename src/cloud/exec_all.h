#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/cluster_status.h"
#include "cloud/local_cluster.h"

namespace stint {

/// A program to run once on each of some VMs, as launchers of PyTorch do it.
struct ExecRequest {
  Words command;
  std::vector<std::string> vms = {};        // Empty: all that run.
  std::vector<std::string> variables = {};  // "NAME=value", beside those of its rank.
  int port = 29500;  // Where the first VM's process listens: PyTorch's own choice.
};

/// What each process finds in its environment: its rank and where to meet.
std::vector<std::string> rank_variables(int rank, int ranks, const std::string& master, int port);

/// Takes a line that a VM printed, to its output or its error stream.
using PrintLine = std::function<void(std::string_view vm, bool error, std::string_view line)>;

/// Runs the program to its end on all of the VMs and returns the exit code of the first that
/// failed, 0 if none did, and 130 after an interrupt. When one fails or we are interrupted, all are
/// killed.
Result<int> exec_all(const LocalCluster& cluster, const ExecRequest& request,
                     const PrintLine& print);

}  // namespace stint
