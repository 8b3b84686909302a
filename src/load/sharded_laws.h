#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "predict/sharded/sharded_model.h"

namespace stint {

/// The laws of sharded steps and of their memory: the shipped calibrations `sharded` and
/// `sharded-memory`, or the means of the priors for what is not shipped. Bad input: a calibration
/// `sharded` without a constant.
Result<ShardedLaws> load_sharded_laws();

/// The model that the job called `name` trains, as layouts are asked about: a known transformer
/// whose times nobody measured. Nothing for other jobs, nor for a profile with measured times.
Result<std::optional<ShardedModel>> load_sharded_model(const std::string& name,
                                                       const JobProfile& job);

}  // namespace stint
