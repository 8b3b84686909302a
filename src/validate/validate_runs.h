#pragma once

#include <string>
#include <vector>

#include "load/environment.h"
#include "validate/validation_report.h"

namespace stint {

/// Predicting runs, and scoring those that were measured.
struct ValidateRunsRequest {
  std::vector<std::string> train;  // Files of measurements to fit, or instead
  std::string calibration;         // a file or a shipped one.
  std::vector<std::string> test;   // Files of measurements; starts alone are predicted too.
  std::string jobs;                // A file of job profiles; empty: the shipped ones.
  bool formula = false;            // Scores the formula without a fit instead.
};

/// Each run that the test files start is one row, predicted as `stint predict` would.
Result<ValidationReport> validate_runs(const Environment& environment,
                                       const ValidateRunsRequest& request);

}  // namespace stint
