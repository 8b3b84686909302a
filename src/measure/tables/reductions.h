#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/layout.h"

namespace stint {

/// All times of one sum of so many bytes over the same VMs of a cluster.
struct MeasuredReduction {
  Cluster cluster;
  std::vector<int> vms;  // Counted from 0 in the order of the cluster, two or more.
  Bytes bytes;
  std::vector<std::vector<Seconds>> rounds = {};  // Times that belong together, in their order.
};

/// Reads what `stint probe network` measured (JSON lines, see measurement.h): one for each run, set
/// of VMs and size, in the order in which they first appear. Times of one that follow each other
/// without another between them are a round. Bad input: VMs that the cluster does not have, the
/// same one twice, or fewer than two. Sums of runs that no line starts are skipped.
Result<std::vector<MeasuredReduction>> read_reductions(std::string_view text,
                                                       const std::string& source);

/// The VM type of each VM of a cluster, in its order.
std::vector<VmName> vms_of(const Cluster& cluster);

/// All times, whichever the round.
std::vector<Seconds> times_of(const MeasuredReduction& reduction);

}  // namespace stint
