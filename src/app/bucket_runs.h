#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/job_files.h"
#include "app/validation_report.h"
#include "calibrate/bucket_fit.h"
#include "measure/stint_steps.h"

namespace stint {

/// Learning a fabric whose buckets can be followed (see bucket_law.h) from our own runs and probes.
struct CalibrateBucketsRequest {
  std::vector<std::string> train;  // Files of measurements.
  std::string jobs;                // A file of job profiles; empty: the shipped ones.
  std::string name;                // Of the calibration.
  std::string provenance;          // Where the runs can be had.
  std::string out;                 // Where to write it; empty: nowhere.
  std::string onto = {};  // A calibration, a file or a shipped one, to fold them into; empty: none.
};

/// Fits all runs, and all sums of probes; the accuracy is that on clusters of sizes left out. What
/// is folded into another calibration starts from what that knows, and is listed behind its data.
Result<Calibration> calibrate_buckets(const Environment& environment,
                                      const CalibrateBucketsRequest& request);

/// Predicting runs, and scoring those that were measured.
struct ValidateRunsRequest {
  std::vector<std::string> train;  // Files of measurements to fit, or instead
  std::string calibration;         // a file or a shipped one.
  std::vector<std::string> test;   // Files of measurements; starts alone are predicted too.
  std::string jobs;                // As above.
  bool formula = false;            // Scores the formula with nothing fitted instead.
};

/// Each run that the test files start is one row, predicted as `stint predict` would.
Result<ValidationReport> validate_runs(const Environment& environment,
                                       const ValidateRunsRequest& request);

}  // namespace stint
