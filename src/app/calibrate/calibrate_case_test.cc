#include "app/calibrate/calibrate_case.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

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

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
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
  EXPECT_EQ(calibration->data[0].rows, 12);  // Rows with one worker say nothing of a cluster.
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

}  // namespace
}  // namespace stint
