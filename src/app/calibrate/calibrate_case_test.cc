#include "app/calibrate/calibrate_case.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "app/share/sharing_models.h"
#include "base/file.h"
#include "calibrate/batch_fit.h"
#include "calibrate/device_fit.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"
#include "measure/tables/step_formats.h"

// The shipped constants for devices are those that the fit finds in the published tables.

namespace stint {
namespace {

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
}

TEST(DeviceCalibration, IsWhatTheFitFindsInThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string folder = data;
  const auto found = calibrate_devices(
      at_day_one(), {.train = {"gavel:" + folder + "/gavel/isolated.csv",
                               "cmdare:" + folder + "/cmdare/single_worker_base.csv",
                               "cmdare:" + folder + "/cmdare/single_worker_speed.csv",
                               "pollux:" + folder + "/pollux/step_times.csv",
                               "zeus:" + folder + "/zeus/epoch_times.csv",
                               "mlperf:" + folder + "/mlperf_modern/clusters.csv"},
                     .name = "devices"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto shipped = load_calibration("devices");
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const std::string text = write_calibration(*found);
  ASSERT_EQ(shipped->noun.constants.size(), found->constants.size()) << text;
  for (std::size_t i = 0; i < found->constants.size(); ++i) {
    EXPECT_EQ(shipped->noun.constants[i].name, found->constants[i].name);
    EXPECT_NEAR(shipped->noun.constants[i].value, found->constants[i].value, 0.005) << text;
  }
  ASSERT_EQ(shipped->noun.accuracy.size(), found->accuracy.size()) << text;
  for (std::size_t i = 0; i < found->accuracy.size(); ++i) {
    EXPECT_EQ(shipped->noun.accuracy[i].n, found->accuracy[i].n);
    EXPECT_NEAR(shipped->noun.accuracy[i].mape, found->accuracy[i].mape, 0.005) << text;
  }
  const std::vector<std::string> models = measured_models(shipped->noun);
  EXPECT_EQ(std::count(models.begin(), models.end(), "h100"), 1);
  EXPECT_EQ(std::count(models.begin(), models.end(), "mi300x"), 0);
}

std::string in_temp(const char* name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

/// A table of two jobs in the form of Pollux: 5 ms a sample alone, and a tenth more for each
/// doubling of workers.
std::string steps_file() {
  std::string text = "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n";
  for (const char* job : {"bert", "imagenet"}) {
    for (const int batch : {8, 16, 32}) {
      const double alone = 0.005 * batch;
      text += fmt::format("{},1,1,1,{},{}\n", job, batch, alone);
      text += fmt::format("{},1-1,2,2,{},{}\n", job, batch, 1.1 * alone);
      text += fmt::format("{},1-1-1-1,4,4,{},{}\n", job, batch, 1.2 * alone);
    }
  }
  const std::string path = in_temp("stint_calibrate_case_test.csv");
  EXPECT_TRUE(write_file(path, text).ok());
  return path;
}

/// A scoreboard that knows one figure.
Result<std::vector<AccuracyRecord>> one_record(const CalibrateRequest& request) {
  return std::vector<AccuracyRecord>{
      {.name = "of " + request.name, .split = "by job", .n = 12, .mape = 0.1}};
}

TEST(CalibrateFabric, WritesConstantsDataAndTheErrorThatTheScoreboardFinds) {
  const std::string out = in_temp("stint_calibrate_case_test.json");
  const auto calibration = calibrate_fabric(
      at_day_one(), {.train = {steps_file()}, .name = "mine", .provenance = "a test", .out = out},
      one_record);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->name, "mine");
  EXPECT_EQ(to_text(calibration->date), "1970-01-01");
  ASSERT_EQ(calibration->data.size(), 1U);
  EXPECT_EQ(calibration->data[0].provenance, "a test");
  // Rows with one worker have no information about a cluster.
  EXPECT_EQ(calibration->data[0].rows, 12);
  EXPECT_EQ(calibration->data[0].jobs, (std::vector<std::string>{"bert", "imagenet"}));
  ASSERT_EQ(calibration->accuracy.size(), 1U);
  EXPECT_EQ(calibration->accuracy[0].name, "of mine");
  const auto text = read_file(out);
  ASSERT_TRUE(text.ok());
  const auto again = read_calibration(*text, out);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->warnings.empty());
  EXPECT_EQ(again->noun.constants.size(), calibration->constants.size());
}

TEST(CalibrateFabric, AsksForFilesAndAName) {
  const auto no_files = calibrate_fabric(at_day_one(), {.name = "mine"}, one_record);
  ASSERT_FALSE(no_files.ok());
  EXPECT_EQ(no_files.error().kind, ErrorKind::kUsage);
  const auto no_name = calibrate_fabric(at_day_one(), {.train = {steps_file()}}, one_record);
  ASSERT_FALSE(no_name.ok());
  EXPECT_EQ(no_name.error().kind, ErrorKind::kUsage);
}

TEST(CalibrateFabric, RefusesATableOfOneWorker) {
  const std::string path = in_temp("stint_calibrate_alone.csv");
  ASSERT_TRUE(write_file(path,
                         "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n"
                         "bert,1,1,1,8,0.5\n")
                  .ok());
  const auto alone = calibrate_fabric(at_day_one(), {.train = {path}, .name = "mine"}, one_record);
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().kind, ErrorKind::kBadInput);
}

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_calibrate_sharing_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// All pairs of four jobs, each at 0.6 of its rate alone.
std::string pairs() {
  std::string text =
      "gpu,model_a,batch_a,model_b,batch_b,packed_a_steps_per_s,packed_b_steps_per_s,oom,"
      "capped_to_isolated\n";
  for (const char* a : {"one", "two", "three", "four"}) {
    for (const char* b : {"one", "two", "three", "four"}) {
      text += fmt::format("V100,{},8,{},8,6,6,0,0\n", a, b);
    }
  }
  return text;
}

std::string alone() {
  std::string text = "gpu,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\n";
  for (const char* name : {"one", "two", "three", "four", "Recommendation"}) {
    text += fmt::format("V100,{},8,1,10\n", name);
  }
  return text;
}

TEST(CalibrateSharing, KeepsWhatItFinds) {
  const std::string out = file("mine.json", "");
  // Unsteady or capped rows would raise it.
  const std::string odd = "V100,one,8,Recommendation,8,9,9,0,0\nV100,one,8,two,8,10,10,0,1\n";
  const auto found = calibrate_sharing(
      at_day_one(), {.train = {file("pairs.csv", pairs() + odd), file("alone.csv", alone())},
                     .name = "mine",
                     .provenance = "here",
                     .out = out});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->data[0].rows, 16);
  EXPECT_EQ(found->data[0].jobs.size(), 4U);
  EXPECT_EQ(found->data[0].provenance, "here");
  EXPECT_EQ(found->accuracy[0].n, 32);
  EXPECT_LT(found->accuracy[0].mape, 0.1);
  const auto kept = load_calibration(out);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  const auto law = free_sharing_law(kept->noun);
  ASSERT_TRUE(law.ok()) << law.error().message;
  // All four may be faster than half speed by chance, so that others are in between.
  const FreeShares shares = free_shares(*law, "V100", {kSecond, kSecond});
  EXPECT_GT(shares.share[0], 0.54);
  EXPECT_LT(shares.share[0], 0.6);
}

TEST(CalibrateSharing, SaysWhatIsWrong) {
  const auto error = [](const CalibrateRequest& request) {
    const auto found = calibrate_sharing(at_day_one(), request);
    return found.ok() ? "no error" : found.error().message;
  };
  EXPECT_EQ(error({}), "--train FILE is required: the rows to learn from");
  EXPECT_EQ(error({.train = {"nowhere.csv"}}), "--name is required: the name of the calibration");
  EXPECT_EQ(error({.train = {file("alone.csv", alone())}, .name = "mine"}),
            "no pair to learn from: none has rates of both jobs, alone and together, on one GPU");
}

// The shipped constants are those that the fit finds in the published tables.
TEST(CalibrateSharing, ShippedConstantsAreWhatTheFitFinds) {
  const auto shipped = load_free_sharing_law();
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string folder = std::string(data) + "/gavel/";
  const auto found = calibrate_sharing(
      at_day_one(),
      {.train = {folder + "packed_pairs.csv", folder + "isolated.csv"}, .name = "mine"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto law = free_sharing_law(*found);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_NEAR(shipped->slope, law->slope, 0.005);
  EXPECT_NEAR(shipped->elsewhere.log_share, law->elsewhere.log_share, 0.005);
  ASSERT_EQ(shipped->devices.size(), 3U);
  for (const auto& [name, device] : law->devices) {
    EXPECT_NEAR(shipped->devices.at(name).log_share, device.log_share, 0.005) << name;
    EXPECT_NEAR(shipped->devices.at(name).spread, device.spread, 0.005) << name;
  }
}

}  // namespace

}  // namespace stint
