#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
#include "base/result.h"
#include "measure/tables/step_table.h"

namespace stint {

/// Whose table of step times it is; kStint is our own record of runs.
enum class StepFormat { kPollux, kGavel, kNvidia, kCmdare, kStint };

std::span<const EnumName<StepFormat>> names_of(StepFormat type);

/// Reads a table of step times of a given format; see the readers of each.
Result<std::vector<StepRow>> read_steps(StepFormat format, std::string_view text,
                                        const std::string& source);

}  // namespace stint
