#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/simulate_plan.h"
#include "load/environment.h"
#include "optimise/question.h"

namespace stint {

/// Limits that hold where none is given. DeepVM's budget is an hourly one; the first two let every
/// way to choose find something for the shipped example, and the fewer VMs there may be, the less
/// does DeepVM lose by renting many small ones.
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

/// What one way to choose rents, and how its runs go.
struct RevocationsRow {
  std::string policy;  // "stint", "stint-on-demand", "deepvm" or "cheapest-first".
  Plan plan;
  std::optional<std::string> binding;  // The plan keeps not all limits, but comes nearest; why.
  std::string region;
  PlanRuns runs;
};

struct RevocationsReport {
  std::string job;
  PlanGoal goal;  // With the limits that held.
  int vms_max = 1;
  SimulateOptions options;
  std::vector<RevocationsRow> rows;
  double deepvm_over_stint = 0;         // Of the mean dollars to finish,
  double deepvm_over_stint_median = 0;  // and of the middle ones, which leave extremes out.
  std::vector<std::string> warnings;
};

/// Plans a job under the same limits with Stint's own search, with it on demand only, with DeepVM's
/// rule and with the cheapest VM first, and simulates each plan's runs with the same chance. All
/// plans are simulated by one model of time, prices and losses (see simulate_plan.h): what is
/// compared is what they choose, not how well they predict. Where no plan keeps the limits, the
/// nearest is simulated. Requires a clock.
Result<RevocationsReport> validate_revocations(const Environment& environment,
                                               RevocationsRequest request);

}  // namespace stint
