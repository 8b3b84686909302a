#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "risk/hazard.h"
#include "validate/validation_report.h"

namespace stint {

struct SurvivalRequest {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;         // "zones" or "providers".
  bool exponential = false;  // Score the exponential instead of ours.
};

/// Shares of machines that outlive an age.
struct SurvivalHorizon {
  Seconds age;
  double predicted = 1;
  double exponential = 1;                 // Losses over exposure of the same training rows.
  std::optional<SurvivalShare> measured;  // Kaplan and Meier's; absent beyond the observed ages.
};

/// Machines that were predicted together, from all others.
struct SurvivalGroup {
  std::string name;
  int machines = 0;  // Number of test rows.
  int losses = 0;
  int machines_train = 0;
  int losses_train = 0;
  std::vector<SurvivalHorizon> horizons;
};

struct SurvivalReport {
  std::vector<SurvivalGroup> groups;
  ValidationReport scores;  // Errors are differences of shares; jobs are the groups.
};

/// Fits the hazard to the lifetimes of the training rows and compares the predicted survival at 1,
/// 3, 6, 12 and 24 h with the measured one of the test rows. Splits: each zone of at least 100
/// machines against the rest, with the small ones together as one; each provider against the rest.
/// The predictions are each row's lifetime, in seconds.
Result<SurvivalReport> validate_survival(const SurvivalRequest& request);

}  // namespace stint
