#pragma once

#include "app/calibrate/calibrate_case.h"

namespace stint {

/// Fits the device model (predict/device_model.h) to NeuSight's files: latencies, and the GPUs and
/// models that they name, told apart by their headers. The error is that of GPUs that are left out.
/// Format, jobs and network of the request are not used.
Result<Calibration> calibrate_device_model(const Environment& environment,
                                           const CalibrateRequest& request);

}  // namespace stint
