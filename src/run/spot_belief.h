#pragma once

#include "risk/cluster_table.h"
#include "run/run_record.h"

namespace stint {

/// What a policy knows of the spot market before it has seen any of it: a pool in which each of
/// `places` has a machine for as long, and has none for as long, as the run expects; where nothing
/// is expected, or another machine is there at once, one that is always full.
CountBelief spot_belief(const RunRecord& record, int places);

}  // namespace stint
