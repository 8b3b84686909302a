#pragma once

#include "app/calibrate/calibrate_case.h"
#include "measure/tables/scaling_table.h"

namespace stint {

/// Fits the constants of calibrate_fabric to clusters of a published benchmark, beside the single
/// VMs of those who ran it, see calibrate/scaling/scaling_transfer.h. Benchmarks are the jobs. The
/// network that costs are stated for is that of the request, or the usual one of the rows.
Result<Calibration> calibrate_benchmarks(const Environment& environment, ScalingFormat format,
                                         const CalibrateRequest& request);

}  // namespace stint
