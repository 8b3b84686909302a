#pragma once

#include "app/calibrate/calibrate_case.h"
#include "base/result.h"
#include "plan/calibration.h"

namespace stint {

/// Fits what two jobs get of a GPU that they share freely (calibrate/free_sharing_fit.h) to Gavel's
/// tables, told apart by header; see read_pair_tables. Pairs with Recommendation, whose repeats
/// differ by factors, and pairs capped to the isolated rates are left out. Format, jobs and network
/// of the request are not looked at.
Result<Calibration> calibrate_sharing(const Environment& environment,
                                      const CalibrateRequest& request);

}  // namespace stint
