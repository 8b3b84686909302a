#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/step_table.h"
#include "plan/layout.h"

namespace stint {

/// All times of one all-reduce of a size over the same VMs of a cluster.
struct MeasuredReduction {
  Cluster cluster;
  std::vector<int> vms;  // Counted from 0 in the order of the cluster, two or more.
  Bytes bytes;
  std::vector<std::vector<Seconds>> rounds = {};  // Times that belong together, in their order.
};

/// Reads the measurements of `stint probe network` (JSON lines, see measurement.h): one for each
/// run, set of VMs and size, in the order in which they first appear. Consecutive times of one are
/// a round. Bad input: VMs that the cluster does not have, the same one twice, or fewer than two.
/// All-reduces of runs without a start line are skipped.
Result<std::vector<MeasuredReduction>> read_reductions(std::string_view text,
                                                       const std::string& source);

/// The VM type of each VM of a cluster, in its order.
std::vector<VmName> vms_of(const Cluster& cluster);

/// All times of all rounds.
std::vector<Seconds> times_of(const MeasuredReduction& reduction);

/// A run, or a part of it, on one layout.
struct MeasuredRun {
  std::string run;
  std::string job;
  Layout layout;
  std::optional<Seconds> time = {};  // Time of an iteration; absent where none was recorded.
};

/// Reads our own measurements (JSON lines, see measurement.h): one for each time that a run begins
/// or continues on a cluster, in the order of the file. Its time is the median of the iterations
/// from there to the next start of the same run; when there are more than five the first two, in
/// which programs warm up, are left out. Iterations of runs without a start line are skipped, and
/// so are probes of the network (see read_reductions).
Result<std::vector<MeasuredRun>> read_measured_runs(std::string_view text,
                                                    const std::string& source);

/// The same as rows of a table of step times.
///
/// A start on several VM types, with batches that differ between groups, with accumulation, or with
/// a collective other than a ring and parameter servers, which a row cannot express, is unusable.
/// There is a parameter server on each VM. The device is the name of the VM type.
Result<std::vector<StepRow>> read_stint_steps(std::string_view text, const std::string& source);

}  // namespace stint
