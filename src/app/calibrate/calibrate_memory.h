#pragma once

#include "app/calibrate/calibrate_case.h"
#include "predict/sharded/sharded_memory.h"

namespace stint {

/// Fits the memory of sharded layouts (calibrate/sharded_memory_fit.h) to published tables, each
/// given as "FORMAT=FILE". The accuracy is that of each table, predicted from the others; of one
/// table alone, of each of its models. Format, jobs and network of the request are not used.
Result<Calibration> calibrate_memory(const Environment& environment,
                                     const CalibrateRequest& request);

}  // namespace stint
