#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tables/step_table.h"

namespace stint {

/// Reads step rates as published with Gavel (OSDI'20), one row per data row, in order: columns gpu,
/// consolidated (1: all GPUs in one server, 0: each in its own), model, batch_per_gpu (blank: 1,
/// the job has only one batch) and num_gpus, and steps_per_s_all_gpus and its _repeat, which may be
/// missing or blank. The rates are sums over the GPUs:
///
///   time = num_gpus / steps_per_s_all_gpus
///
/// A rate of 0 says that the job does not fit; such rows and those whose rate cannot be read are
/// unmeasured, those with other unreadable cells unusable. A table without the key columns is bad
/// input.
Result<std::vector<StepRow>> read_gavel_steps(std::string_view text, const std::string& source);

}  // namespace stint
