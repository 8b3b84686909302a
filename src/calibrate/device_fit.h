#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "measure/tables/step_table.h"
#include "plan/calibration.h"
#include "predict/device_scaling.h"

namespace stint {

/// One job at one batch on two accelerators.
struct DevicePair {
  std::string job;
  const Gpu* from = nullptr;
  const Gpu* to = nullptr;
  double ratio = 1;  // Time on `to` over time on `from`.
};

/// The accelerator of the catalogue that a row was measured on, by its name or its usual spellings.
/// Null when the catalogue does not have it.
const Gpu* gpu_of_row(const Catalog& catalog, const StepRow& row);

/// Every two devices on which a job was measured with one worker and the same batch, in both
/// directions; repeats are averaged by their logarithm. Devices without figures in `catalog` are
/// left out. `catalog` must outlive the pairs.
std::vector<DevicePair> device_pairs(std::span<const StepRow> rows, const Catalog& catalog);

/// The fit of the transfer of times between devices.
struct DeviceFit {
  DeviceLaw law;  // Its spread makes the 80 % interval cover eight in ten pairs of held-out jobs.
  double share_deviation = 0;  // Deviation of the logit of the share.
  bool identified = false;
  std::size_t pairs = 0;
  std::vector<std::string> jobs;
  // Errors |predicted − measured|/measured, for the pairs of jobs that were held out in turn.
  double error_mean = 0;
  double error_median = 0;
  double error_p90 = 0;
};

/// Fits the share that is common to all jobs by least squares on
///
///   ln r̂(share) − ln r,  share = 1/(1 + e^{−x}),  x ~ N(0, 2²)
///
/// with a robust loss, then holds out each job in turn. Rows of jobs with more pairs weigh less, so
/// that each job counts the same. Fails with fewer than two jobs.
Result<DeviceFit> fit_devices(std::span<const DevicePair> pairs);

/// The fit as a calibration, without date or data.
Calibration to_calibration(const DeviceFit& fit, const std::string& name);

}  // namespace stint
