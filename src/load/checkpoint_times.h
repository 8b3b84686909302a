#pragma once

#include "plan/calibration.h"
#include "risk/save_cost.h"

namespace stint {

/// Bad input: a constant that is missing, in another unit or not above zero.
Result<HostCopy> read_host_copy(const Calibration& calibration);

/// How fast workers copy their state to host memory: the shipped figures, read once
/// (data/calibration/checkpoints.json).
const HostCopy& host_copy();

}  // namespace stint
