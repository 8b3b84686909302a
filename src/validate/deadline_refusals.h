#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/deadline_replay.h"

namespace stint {

/// Puts the failed starts that `file` records on every window of the pools, from the first failure
/// on; see measure/refusal_pattern.h for which rows. Returns what was put there, for a reader.
Result<std::string> add_refusals(const std::string& file, std::vector<ReplayPool>& pools);

}  // namespace stint
