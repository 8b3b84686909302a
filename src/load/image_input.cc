#include "load/image_input.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "load/constant_reader.h"
#include "load/job_files.h"

namespace stint {
namespace {

constexpr std::string_view kImageInputScope = "image input";
constexpr std::string_view kImageInputSource = "image input: ";

}  // namespace

Result<ImageInput> read_image_input(const Calibration& calibration, std::string_view left_out) {
  ConstantReader read(calibration);
  const Seconds low = read.time(std::string(kImageInputScope), "low");
  std::optional<Seconds> high;
  for (const Constant& constant : calibration.constants) {
    if (!constant.scope.starts_with(kImageInputSource)) continue;
    if (constant.scope.substr(kImageInputSource.size()) == left_out) continue;
    const Seconds bound = read.time(constant.scope, "high");
    high = std::min(bound, high.value_or(bound));
  }
  if (!read.status().ok()) return read.status().error();
  if (high && *high >= low) return ImageInput{.low = low, .high = *high};
  return bad_input(
      fmt::format("the calibration '{}' needs a constant 'high' above 'low' of a scope '{}SOURCE'",
                  printable(calibration.name), kImageInputSource));
}

ImageInput image_input_without(std::string_view source) {
  static const Calibration kCalibration = shipped_calibration("image-input");
  const auto input = read_image_input(kCalibration, source);
  CHECK(input.ok());
  return *input;
}

const ImageInput& image_input() {
  static const ImageInput kInputShipped = image_input_without("");
  return kInputShipped;
}

}  // namespace stint
