#pragma once

#include "app/calibrate/calibrate_case.h"

namespace stint {

/// Fits the law of sharded steps (predict/sharded/sharded_step.h) to published tables: each file of
/// `request.train` is "FORMAT=PATH". Format, jobs and network of the request are not used.
Result<Calibration> calibrate_sharded(const Environment& environment,
                                      const CalibrateRequest& request);

}  // namespace stint
