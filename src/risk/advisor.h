#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "catalog/catalog.h"
#include "measure/tables/lifetime_table.h"
#include "plan/calibration.h"
#include "risk/group_loss.h"
#include "risk/hazard.h"

namespace stint {

/// The hazard of one machine of a pool, a low and a high one that it hardly leaves, and where they
/// come from.
struct PoolHazard {
  Hazard typical;
  Hazard low;
  Hazard high;
  std::string origin;
};

/// Where a band of monthly frequency is open ("over 20 %"), its upper end is taken to be this.
/// Nobody publishes how bad the worst pools are.
inline constexpr double kOpenBandEnd = 0.5;

/// A band from a to b of machines taken back within a month, as the rate of an exponential:
///
///   rate = −ln(1 − (a + b)/2) / 30 days
///
/// and from a and b alone the low and the high one.
PoolHazard advised_hazard(const Interruption& band);

/// What is believed of a pool without a band, and of how machines are lost together in any pool.
struct SpotPrior {
  PoolHazard hazard;
  GroupLoss group;
};

/// What `spot_calibration` wrote. A calibration of something else is bad input.
Result<SpotPrior> read_spot_prior(const Calibration& calibration);

/// The hazard of a machine drawn from `lifetimes`, with the calmest and the worst zone as low and
/// high, and how machines are lost together.
Calibration spot_calibration(std::span<const Lifetime> lifetimes, const GroupLoss& group);

}  // namespace stint
