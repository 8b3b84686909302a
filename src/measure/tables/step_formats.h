#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
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

/// The source of a table of step times; kStint is our own record of runs.
enum class StepFormat { kPollux, kGavel, kNvidia, kCmdare, kStint };

std::span<const EnumName<StepFormat>> names_of(StepFormat type);

/// Reads a table of step times of a given format; see the readers of each.
Result<std::vector<StepRow>> read_steps(StepFormat format, std::string_view text,
                                        const std::string& source);

}  // namespace stint
