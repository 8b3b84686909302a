#include "load/startup_times.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "load/job_files.h"

namespace stint {
namespace {

// CM-DARE's table of start-up times, and what was seen on the emulated cloud.
TEST(StartupTimes, AreThoseOfTheShippedFile) {
  const StartupTimes& times = startup_times();
  EXPECT_NEAR(times.vm_on_demand.mean.in(kSecond), 71.0, 1e-12);
  EXPECT_NEAR(times.vm_spot.deviation.in(kSecond), 5.5, 1e-12);
  EXPECT_NEAR(times.plan_cluster.mean.in(kSecond), 5, 1e-12);
  EXPECT_NEAR(times.disk.in(kMB / kSecond), 300, 1e-9);
  EXPECT_EQ(&times, &startup_times());
}

/// The name under which the provenance of a constant stands: without "startup: ", and a deviation
/// under that of its mean.
std::string source_of(const Constant& constant) {
  std::string name = constant.name;
  const auto deviation = name.find("_deviation");
  if (deviation != std::string::npos) name.resize(deviation);
  const auto colon = constant.scope.find(": ");
  return colon == std::string::npos ? name : constant.scope.substr(colon + 2) + " " + name;
}

TEST(StartupTimes, EachSaysWhereItComesFrom) {
  const Calibration calibration = shipped_calibration("startup");
  for (const Constant& constant : calibration.constants) {
    const auto& data = calibration.data;
    EXPECT_TRUE(std::any_of(data.begin(), data.end(), [&](const FittedData& it) {
      return it.name == source_of(constant);
    })) << source_of(constant);
  }
}

TEST(StartupTimes, RefuseWhatIsMissingOrInAnotherUnit) {
  Calibration calibration = shipped_calibration("startup");
  calibration.constants[0].unit = "ms";
  EXPECT_EQ(read_startup_times(calibration).error().message,
            "the calibration 'startup' needs a constant 'vm_on_demand' above zero in s of the "
            "scope 'startup'");
  calibration.constants[0].unit = "s";
  calibration.constants[0].value = 0;
  EXPECT_FALSE(read_startup_times(calibration).ok());
  calibration.constants.clear();
  EXPECT_EQ(read_startup_times(calibration).error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
