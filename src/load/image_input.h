#pragma once

#include <string_view>

#include "base/result.h"
#include "models/model_job.h"
#include "plan/calibration.h"

namespace stint {

/// What an image of a training takes of a vCPU, from a calibration such as the shipped image-input:
/// a bound from below, and bounds from above of several sources, of which `left_out` does not
/// count. Bad input where a bound is missing.
Result<ImageInput> read_image_input(const Calibration& calibration, std::string_view left_out);

/// The same of the shipped calibration.
const ImageInput& image_input();
ImageInput image_input_without(std::string_view source);

}  // namespace stint
