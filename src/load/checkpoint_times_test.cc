#include "load/checkpoint_times.h"

#include <gtest/gtest.h>

#include "load/job_files.h"

namespace stint {
namespace {

TEST(HostCopyFigures, AreThoseOfTheShippedFile) {
  EXPECT_NEAR(host_copy().link_share, 0.8, 1e-12);
  EXPECT_NEAR(host_copy().rate_unknown.in(kGB / kSecond), 12.8, 1e-9);
  EXPECT_EQ(host_copy().latency, kHostCopyMeasured.latency);
  const Calibration calibration = shipped_calibration("checkpoints");
  EXPECT_EQ(calibration.data.size(), calibration.constants.size());
}

TEST(HostCopyFigures, RefuseWhatIsMissingOrInAnotherUnit) {
  Calibration calibration = shipped_calibration("checkpoints");
  calibration.constants[0].unit = "%";
  EXPECT_EQ(read_host_copy(calibration).error().message,
            "the calibration 'checkpoints' needs a constant 'share' above zero in 1 of the scope "
            "'host link'");
  calibration.constants.clear();
  EXPECT_EQ(read_host_copy(calibration).error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
