#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A sum that a probe of the network is to time.
struct PlannedSum {
  std::vector<int> vms;  // Of the cluster, counted from 0.
  Bytes bytes;
  bool pair = false;  // One of those that tell pairs of VMs apart.

  bool operator==(const PlannedSum&) const = default;
};

/// Pairs beyond this are not tried: all of eight VMs.
inline constexpr std::size_t kPairsMax = 28;

/// How many VMs to sum over: 2, 4, 8 … and all of them.
std::vector<int> usual_counts(int vms);

/// Sums of every size over the first VMs of each of the counts, then one of the middle size over
/// each pair, those with neighbouring numbers first. A usage error for counts that the cluster does
/// not have, and where there is nothing to sum over.
Result<std::vector<PlannedSum>> planned_sums(int vms, const std::vector<int>& counts,
                                             std::vector<Bytes> sizes);

/// As `stint.probe` of the Python package reads it.
Json plan_json(const std::vector<PlannedSum>& sums);

}  // namespace stint
