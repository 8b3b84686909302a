#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stint {

/// A Chrome trace of the turns that runs which share machines really had, from what their workers
/// noted: a row for each run on each machine, and times since the first turn. Without turns, one
/// with no events. Bad input: a line that is no turn; a last one that was cut off is left out.
Result<std::string> turn_trace(const std::vector<std::string>& run_folders);

}  // namespace stint
