#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tables/step_table.h"

namespace stint {

/// Reads step rates as published with CM-DARE (ICDCS'20), one row per data row, in order. Workers
/// sit on a VM each and do not wait for each other. The tables are told apart by their columns:
/// with num_workers (speed by cluster size) the rate is cluster_steps_per_s_mean, otherwise there
/// is one worker and the rate is steps_per_s_mean; rates may be missing or blank.
///
///   time = num_workers / rate
///
/// There is one parameter server where num_param_servers is not stated. Parameters (num_params)
/// are of 4 bytes. Batches are not stated, so a step is the unit. Models that go by two names get
/// the longer one. Rows with an unreadable rate are unmeasured and those with other unreadable
/// cells unusable; a table without model, gpu, or with one of num_workers and num_param_servers
/// only, is bad input.
Result<std::vector<StepRow>> read_cmdare_steps(std::string_view text, const std::string& source);

}  // namespace stint
