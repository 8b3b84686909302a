#include "load/image_input.h"

#include <gtest/gtest.h>

#include "load/job_files.h"

namespace stint {
namespace {

TEST(ImageInputFigures, AreBoundsWithTheirSources) {
  EXPECT_LT(image_input().low, image_input().high);
  const Calibration calibration = shipped_calibration("image-input");
  EXPECT_EQ(calibration.data.size(), 2U);
  for (const FittedData& data : calibration.data) EXPECT_GT(data.rows, 0) << data.name;
}

TEST(ImageInputFigures, LeaveOutTheSourceOfWhatIsPredicted) {
  const ImageInput without = image_input_without("awsdlm-cls");
  EXPECT_GT(without.high, image_input().high);
  EXPECT_EQ(without.low, image_input().low);
  EXPECT_EQ(image_input_without("lambda").high, image_input().high);
}

TEST(ImageInputFigures, RefuseBoundsThatAreMissingOrContradictEachOther) {
  Calibration calibration = shipped_calibration("image-input");
  calibration.constants.resize(1);
  EXPECT_EQ(read_image_input(calibration, "").error().message,
            "the calibration 'image-input' needs a constant 'high' above 'low' of a scope 'image "
            "input: SOURCE'");
  calibration = shipped_calibration("image-input");
  calibration.constants[0].value = 1;
  EXPECT_FALSE(read_image_input(calibration, "").ok());
  calibration.constants.clear();
  EXPECT_EQ(read_image_input(calibration, "").error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
