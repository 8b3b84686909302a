#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/validations.h"

namespace stint {

/// Tables of step times in Pollux's format, and the confidence of deadlines.
struct ValidatePlanRequest {
  std::vector<std::string> train;  // Files.
  std::vector<std::string> test = {};
  std::string split = {};  // Instead of test files; see calibrate/split.h.
  std::string jobs = {};   // A file of job profiles; empty: the shipped ones.
  double confidence = 0.95;
};

/// Chooses clusters for the jobs of the test rows under deadlines, and scores the choices by their
/// measured cost.
///
/// The work is a fixed number of samples at a fixed batch per GPU, so that on K GPUs it takes
///
///   samples / (batch K) · time of a step
///
/// The candidates are all measured test rows of one job and batch per GPU; groups of fewer than
/// eight are left out. A candidate costs its nodes times the on-demand price of the VM that the
/// tables were measured on. For seven deadlines each policy chooses a candidate; the measurement of
/// its row is used only then. Deadlines, choices and regret are in calibrate/plan_choice.h.
///
/// Policies: `stint` weighs the cost of each candidate against its probability of missing the
/// deadline, as `stint plan` does (choose_by_risk with the charge of the confidence), `stint-sure`
/// takes the cheapest candidate that keeps the deadline at the confidence, as `stint plan
/// --confidence` does, and `stint-point` the cheapest one whose prediction keeps it, like the
/// models `pollux`, `scavenger` and `perfect`; `cheapest-first` and `fastest-first` use prices and
/// GPUs alone. Probabilities are those of the predicted intervals, as in `stint plan`: that of a
/// job without rows on a cluster has the width that leaving out training jobs asks for.
///
/// `true-means` is no planner but a floor: it chooses as `stint` does, and knows of each number of
/// VMs and GPUs the mean of what the group measured there, and how far rows of one such number
/// deviate from it over all groups of the job. What is left is the luck of single rows.
///
/// Bad input when no group has eight measured rows.
Result<PlanValidation> validate_plan(const ValidatePlanRequest& request);

}  // namespace stint
