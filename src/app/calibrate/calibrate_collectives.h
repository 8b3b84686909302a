#pragma once

#include "app/calibrate/calibrate_case.h"

namespace stint {

/// Fits the physical law of collectives (calibrate/collectives/fabric_fit.h) to published tables,
/// distinguished by header. The accuracy is that of each table, predicted from the others; of one
/// table alone, of each of its systems. Format, jobs and network of the request are not used.
Result<Calibration> calibrate_collectives(const Environment& environment,
                                          const CalibrateRequest& request);

}  // namespace stint
