#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "measure/tables/device_table_format.h"
#include "validate/validation_report.h"

namespace stint {

/// A file whose rows are learned from and never scored.
struct PriorFile {
  DeviceTableFormat format = DeviceTableFormat::kTimm;
  std::string file;
};

struct DeviceRequest {
  DeviceTableFormat format = DeviceTableFormat::kTimm;
  std::vector<std::string> train;
  std::vector<std::string> test;
  // "leave-one-gpu-out", "leave-one-family-out", "leave-one-job-out", or "gpu=A,B" and
  // "family=A,B", which hold out all rows of these at once; empty when there are test files.
  std::string split;
  std::vector<PriorFile> priors;
  std::string baseline;  // Empty: ours.
  bool bundled = false;  // Start from the shipped calibration.
  bool alone = false;    // Only the requested model, without the others beside it.
};

/// Learns from the training rows and predicts the seconds of the test rows. What a split holds out
/// is held out of the prior rows too. Beside the requested model, the others on the same rows.
Result<ValidationReport> validate_device(const Environment& environment,
                                         const DeviceRequest& request);

/// The names that `baseline` may have for some format.
std::vector<std::string> device_baseline_names();

}  // namespace stint
