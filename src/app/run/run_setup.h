#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cloud/cluster_spec.h"
#include "load/environment.h"
#include "load/predict_inputs.h"
#include "plan/plan.h"
#include "run/run_record.h"

namespace stint {

/// The request of `stint run`.
struct RunRequest {
  std::string plan = "1";    // A file, or a row of the last answer.
  std::string cluster = {};  // Instead of a plan.
  std::string job = {};      // Empty: the shipped one that the plan names.
  std::string calibration = {};
  std::string name = {};                          // Empty: after the job.
  std::vector<std::string> command = {};          // Empty: the job's own,
  std::vector<std::string> command_default = {};  // and this where the job has none.
  std::string layout = {};  // How the script splits its model; empty: it does not.
  std::optional<int> global_batch = {};
  std::optional<std::int64_t> steps = {};
  std::optional<Seconds> deadline = {};  // Absent: the plan's.
  std::optional<Dollars> budget = {};
  std::optional<RunCompute> compute = {};  // Absent: paced-real where the profile allows it.
  std::optional<CheckpointPlace> place = {};
  std::optional<int> receivers = {};
  std::optional<Seconds> save_every = {};
  bool equal_shares = false;  // Not Stint's own, for comparison.
  std::string life = {};      // Of spot VMs; see run_market.h.
  std::string expect = {};    // What is believed of it; empty: the same.
  double trace_speed = 1;
  std::uint64_t seed = 1;
  Seconds notice = 120 * kSecond;
  std::optional<Seconds> tick = {};
  std::optional<Seconds> hang = {};  // Without a step a script that takes no orders hangs.
  JobOverrides overrides = {};       // Of the job's profile, after the plan's.
  // For workers beside the usual variables: "NAME,NAME", or "NAME=value".
  std::vector<std::string> environment = {};
};

/// A run before it begins.
struct PreparedRun {
  RunRecord record;
  PredictInputs inputs;              // Its job, and what predictions of it are made from.
  std::optional<PlanAnswer> answer;  // Where it came from a plan.
  Cluster cluster;                   // That trains,
  int accumulation = 1;              // with so many micro-batches of a step on each machine.
  int withheld = 0;                  // Variables of this process that workers do not get.
  std::vector<std::string> warnings = {};
};

/// Looks everything up that a run needs, without starting anything. The forecast is made. Usage
/// errors: machines that the emulated cloud does not have, no command, no steps. Infeasible: a
/// deadline or a budget that the steps do not keep even without interruptions.
Result<PreparedRun> prepare_run(const Environment& environment, const RunRequest& request);

/// The same with inputs that are loaded already; the request names the cluster.
Result<PreparedRun> prepare_run(const Environment& environment, const RunRequest& request,
                                PredictInputs inputs);

/// Infeasible: a deadline or a budget that not even a run without interruptions keeps, whose steps
/// take the 10th percentile of their time. Machines that only receive checkpoints are not counted.
Status check_run_limits(const RunRecord& record);

}  // namespace stint
