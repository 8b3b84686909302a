#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "calibrate/collectives/collective_cases.h"

namespace stint {

/// The measured cases of the cluster nearest to that of `it`: its own; else, of as many as possible
/// of its system, its collective and its side of the NIC, the nearest number of workers.
std::vector<const CollectiveCase*> nearest_curve(std::span<const CollectiveCase> train,
                                                 const CollectiveCase& it);

/// A straight line of time over size on the nearest curve, by least squares on relative error,
/// times the ratio of the two line-rate times. Nothing without two sizes.
std::optional<Seconds> alpha_beta_time(std::span<const CollectiveCase> train,
                                       const CollectiveCase& it);

/// The share of the line rate of the nearest size on the nearest curve.
std::optional<Seconds> nearest_size_time(std::span<const CollectiveCase> train,
                                         const CollectiveCase& it);

}  // namespace stint
