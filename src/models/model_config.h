#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "models/model_shape.h"

namespace stint {

/// The shape in a config.json of Hugging Face, read as it is. Bad input that names the source: an
/// architecture (`model_type`) that is not known, or one of its numbers that is missing.
Result<ModelShape> read_model_config(const Json& config, const std::string& source);

/// The architectures that are known, by their `model_type`.
std::vector<std::string> known_architectures();

}  // namespace stint
