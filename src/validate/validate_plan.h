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
/// Policies: `stint` (its interval keeps the deadline at the confidence), `stint-normal` (the same
/// with the deviations of a normal distribution, as `stint plan` does, also for unseen jobs),
/// `stint-point` (its prediction keeps it), the models `pollux`, `scavenger` and `perfect` (theirs
/// does), and `cheapest-first` and `fastest-first`, which use prices and GPUs alone.
///
/// Bad input when no group has eight measured rows.
Result<PlanValidation> validate_plan(const ValidatePlanRequest& request);

}  // namespace stint
