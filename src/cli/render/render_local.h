#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "cloud/cluster_files.h"
#include "cloud/cluster_status.h"

namespace stint::cli {

/// A cluster for a person: what its VMs are, where they stand, and the bill.
std::string text_of(const ClusterStatus& status, const Terminal& terminal);

/// Several clusters for a program.
Json json_of(const std::vector<ClusterStatus>& clusters, const std::vector<std::string>& dead);

Json json_of(const Cleaning& cleaning);

}  // namespace stint::cli
