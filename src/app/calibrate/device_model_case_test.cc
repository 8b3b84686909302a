#include "app/calibrate/device_model_case.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "load/predict_inputs.h"
#include "predict/device_model.h"

namespace stint {
namespace {

Environment bare_environment() {
  Environment environment;
  environment.clock = std::make_shared<SystemClock>();
  return environment;
}

TEST(DeviceModelCalibration, NeedsFilesANameAndMeasuredRows) {
  const Environment environment = bare_environment();
  EXPECT_EQ(calibrate_device_model(environment, {.name = "x"}).error().message,
            "--train FILE is required: the rows to learn from");
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/latency.csv";
  ASSERT_TRUE(write_file(path, "model,seq,batch,gpu,mode\nbert,512,8,T4,inf\n").ok());
  const auto unmeasured = calibrate_device_model(environment, {.train = {path}, .name = "x"});
  EXPECT_EQ(unmeasured.error().message, "the device model needs at least one measured row");
}

// The shipped constants are those that the fit finds in the published tables.
TEST(DeviceModelCalibration, IsWhatTheFitFindsInThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string folder = std::string(data) + "/neusight/";
  const auto found = calibrate_device_model(
      bare_environment(),
      {.train = {folder + "latency.csv", folder + "gpus.csv", folder + "models.csv"},
       .name = "device-model"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto shipped = load_calibration("device-model");
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const auto ours = device_model(*found);
  const auto theirs = device_model(shipped->noun);
  ASSERT_TRUE(ours.ok());
  ASSERT_TRUE(theirs.ok());
  for (const DeviceConstant& it : device_constants()) {
    EXPECT_NEAR(std::log((*ours).*it.member), std::log((*theirs).*it.member), 0.01) << it.name;
  }
  EXPECT_NEAR(ours->spread, theirs->spread, 0.01);
  ASSERT_EQ(shipped->noun.accuracy.size(), 1U);
  EXPECT_NEAR(shipped->noun.accuracy[0].mape, found->accuracy[0].mape, 0.005);
}

}  // namespace
}  // namespace stint
