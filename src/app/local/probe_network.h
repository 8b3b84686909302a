#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "calibrate/bucket_fit.h"
#include "job/job.h"
#include "load/environment.h"
#include "plan/calibration.h"

namespace stint {

/// An all-reduce that a probe of the network times.
struct PlannedSum {
  std::vector<int> vms;  // Numbers in the cluster, from 0.
  Bytes bytes;
  bool pair = false;  // It compares pairs of VMs.

  bool operator==(const PlannedSum&) const = default;
};

/// Largest number of pairs: all pairs of eight VMs.
inline constexpr std::size_t kPairsMax = 28;

/// The numbers of VMs to probe: 2, 4, 8 … and all of them.
std::vector<int> usual_counts(int vms);

/// All-reduces of every size over the first VMs of each of the counts, then one of the middle size
/// over each pair, those with neighbouring numbers first. A usage error for counts that the cluster
/// does not have, and without any all-reduce.
Result<std::vector<PlannedSum>> planned_sums(int vms, const std::vector<int>& counts,
                                             std::vector<Bytes> sizes);

/// The form that `stint.probe` of the Python package reads.
Json plan_json(const std::vector<PlannedSum>& sums);

struct ProbeRequest {
  std::string cluster;  // A cluster of the emulated cloud: "8x local.large".
  std::vector<Bytes> sizes = {1 * kMB, 5 * kMB, 25 * kMB};
  std::vector<int> counts = {};  // Numbers of VMs of an all-reduce; empty: usual_counts.
  int rounds = 3;                // Rounds of all all-reduces, one after the other.
  int repeats = 3;               // Repeats of each all-reduce in a round.
  Seconds every;                 // From the start of a round to the next, if it takes less.
  std::string python = "/usr/bin/python3";
  std::string calibration = "local";  // A file or a shipped one, to compare with.
  std::string out = {};               // File to append the measurements to; empty: none.
  std::string fold = {};  // File for the calibration updated with the probe; empty: none.
};

/// An all-reduce, as measured and as predicted by the calibration.
struct ProbedSum {
  PlannedSum planned;
  Timing time;
  BytesPerSecond bus;  // Rate of each NIC: 2 (n − 1)/n · S / time.
  Seconds predicted;
};

struct ProbeReport {
  std::string cluster;
  std::vector<std::string> vms;  // Their names, by number.
  std::vector<ProbedSum> sums;
  ReductionSpread spread;
  Calibration before;  // Calibration for the comparison.
  double mape = 0;     // Mean error of its predictions of the all-reduces.
  std::optional<Calibration> folded = {};
  std::optional<Error> not_folded = {};  // Reason; the measurements are reported in any case.
  std::vector<std::string> warnings = {};
};

/// The measurements that a probe will make.
struct ProbeOutline {
  std::vector<PlannedSum> sums;
  Seconds duration;  // By the calibration, with the start of the workers.
};

/// Errors are those of probe_network that are found before the cluster is made.
Result<ProbeOutline> outline_probe(const Environment& environment, const ProbeRequest& request);

/// Called with the finished share of the work, in [0, 1].
using ProbeProgress = std::function<void(double done)>;

/// Makes the cluster, times the all-reduces on it, and removes it. Usage errors: see start_cluster
/// and planned_sums. Into a calibration that follows single all-reduces the probe is folded by
/// calibrate_buckets, into one of steps by calibrate_fabric. Unavailable: an interpreter
/// without torch, or no namespaces. Interrupted: the measurements until then are in `out`.
Result<ProbeReport> probe_network(const Environment& environment, const ProbeRequest& request,
                                  const ProbeProgress& progress);

}  // namespace stint
