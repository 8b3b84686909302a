#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "catalog/catalog.h"
#include "measure/tables/lifetime_table.h"
#include "plan/calibration.h"
#include "risk/group_loss.h"
#include "risk/hazard.h"
#include "risk/pool_population.h"

namespace stint {

/// The hazard of one machine of a pool, a low and a high one as its band, and their source.
struct PoolHazard {
  Hazard typical;
  Hazard low;
  Hazard high;
  std::string origin;
};

/// The upper end of an open band of monthly frequency ("over 20 %"), an assumption: no provider
/// publishes the interruptions of its worst pools.
inline constexpr double kOpenBandEnd = 0.5;

/// A band from a to b of machines interrupted within a month, as the rate of an exponential:
///
///   rate = −ln(1 − (a + b)/2) / 30 days
///
/// The low and the high rates follow from a and b alone.
PoolHazard advised_hazard(const Interruption& band);

/// The hazard of a pool of this population: its median, and the pools that stand for the calmest
/// and the worst quarter.
PoolHazard population_hazard(const PoolPopulation& population);

/// The same after one's own machines of the pool. The population is that of `prior`.
PoolHazard observed_hazard(const PoolHazard& prior, std::span<const Lifetime> own);

/// The prior of the hazard of a pool without a band, and of the dependence of losses in any pool.
struct SpotPrior {
  PoolHazard hazard;
  GroupLoss group;
};

/// Reads the output of `spot_calibration`. A calibration of something else is bad input.
Result<SpotPrior> read_spot_prior(const Calibration& calibration);

/// The hazard of a pool of this population, and the dependence of losses.
Calibration spot_calibration(const PoolPopulation& population, const GroupLoss& group);

}  // namespace stint
