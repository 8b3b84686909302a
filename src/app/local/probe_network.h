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

struct ProbeRequest {
  std::string cluster;  // Of the emulated cloud: "8x local.large".
  std::vector<Bytes> sizes = {1 * kMB, 5 * kMB, 25 * kMB};
  std::vector<int> counts = {};  // Of VMs to sum over; empty: usual_counts.
  int rounds = 3;                // Of everything, one after the other.
  int repeats = 3;               // Of each sum in a round.
  Seconds every;                 // From the start of a round to the next, if it takes less.
  std::string python = "/usr/bin/python3";
  std::string calibration = "local";  // A file or a shipped one, to compare with.
  std::string out = {};               // Append the measurements here; empty: nowhere.
  std::string fold = {};  // Write the calibration here, with the probe in it; empty: nowhere.
};

/// A sum, as it was measured and as the calibration has it.
struct ProbedSum {
  PlannedSum planned;
  Timing time;
  BytesPerSecond bus;  // What each NIC carried: 2 (n − 1)/n · S / time.
  Seconds predicted;
};

struct ProbeReport {
  std::string cluster;
  std::vector<std::string> vms;  // Their names, by number.
  std::vector<ProbedSum> sums;
  ReductionSpread spread;
  Calibration before;  // What they are compared with.
  double mape = 0;     // Of its predictions of the sums.
  std::optional<Calibration> folded = {};
  std::optional<Error> not_folded = {};  // Why; what was measured is told all the same.
  std::vector<std::string> warnings = {};
};

/// The measurements that a probe will make.
struct ProbeOutline {
  std::vector<PlannedSum> sums;
  Seconds duration;  // As the calibration has it, with the start of the workers.
};

/// Errors are those of probe_network that show before anything is made.
Result<ProbeOutline> outline_probe(const Environment& environment, const ProbeRequest& request);

/// Called with the share of the work that is done, in [0, 1].
using ProbeProgress = std::function<void(double done)>;

/// Makes the cluster, times the sums on it, and takes it down. Usage errors: see start_cluster and
/// planned_sums, and a calibration that does not follow buckets. Unavailable: an interpreter
/// without torch, or no namespaces. Interrupted: what was measured until then is in `out`.
Result<ProbeReport> probe_network(const Environment& environment, const ProbeRequest& request,
                                  const ProbeProgress& progress);

}  // namespace stint
