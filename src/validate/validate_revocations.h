#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/simulate_plan.h"
#include "load/environment.h"
#include "optimise/question.h"

namespace stint {

/// Default limits. DeepVM's budget is an hourly one; the first two let every policy find a plan for
/// the shipped example, and with fewer VMs DeepVM loses less by renting many small ones.
inline constexpr DollarsPerSecond kRevocationsRate = 25 * kDollar / kHour;
inline constexpr Seconds kRevocationsDeadline = 24 * kHour;
inline constexpr int kRevocationsVms = 8;

struct RevocationsRequest {
  std::string job;               // A file, or the name of a shipped job.
  std::string calibration = {};  // As for a plan.
  /// Without a rate: kRevocationsRate. Without deadline and budget: kRevocationsDeadline.
  Constraints constraints = {.vms_max = kRevocationsVms};
  SimulateOptions options = {};
};

/// The plan of one policy, and the outcome of its runs.
struct RevocationsRow {
  std::string policy;  // "stint", "stint-on-demand", "deepvm" or "cheapest-first".
  Plan plan;
  // Reason, where the plan is the nearest and does not keep all limits.
  std::optional<std::string> binding;
  std::string region;
  RunSummary runs;
};

struct RevocationsReport {
  std::string job;
  PlanGoal goal;  // With the limits that applied.
  int vms_max = 1;
  SimulateOptions options;
  std::vector<RevocationsRow> rows;
  double deepvm_over_stint = 0;         // Ratio of the mean costs to finish,
  double deepvm_over_stint_median = 0;  // and of the median costs, which exclude extremes.
  std::vector<std::string> warnings;
};

/// Plans a job under the same limits with Stint's own search, with it on demand only, with DeepVM's
/// rule and with the cheapest VM first, and simulates each plan's runs with the same random
/// numbers. All plans are simulated by one model of time, prices and losses (see simulate_plan.h):
/// the comparison is of the choices, not of the predictions. Where no plan keeps the limits, the
/// nearest is simulated. Requires a clock.
Result<RevocationsReport> validate_revocations(const Environment& environment,
                                               RevocationsRequest request);

}  // namespace stint
