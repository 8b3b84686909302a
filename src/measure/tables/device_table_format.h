#pragma once

#include <span>

#include "base/codec_fields.h"

namespace stint {

/// Published tables of seconds on one accelerator, or on one machine of several.
enum class DeviceTableFormat { kNeusight, kTimm, kZeus, kMlperf };

std::span<const EnumName<DeviceTableFormat>> names_of(DeviceTableFormat type);

/// What the rows of a file are for: to learn from, to predict, or to learn from as rows of another
/// set that are never scored.
enum class TableRole { kTrain, kTest, kPrior };

}  // namespace stint
