#pragma once

#include "app/calibrate/calibrate_case.h"

namespace stint {

/// Fits how spot prices move (risk/price_drift.h) to tables of dated prices. What is believed of
/// years and of on-demand prices is that of the shipped calibration. Format, jobs and network of
/// the request are not used.
Result<Calibration> calibrate_prices(const Environment& environment,
                                     const CalibrateRequest& request);

}  // namespace stint
