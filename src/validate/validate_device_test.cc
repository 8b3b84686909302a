#include "validate/validate_device.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"

namespace stint {
namespace {

Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_device_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

const std::string kHeader = "gpu,dataset,network,batch,optimizer,power_limit_w,epoch_s\n";

std::string epochs() {
  return file("epochs.csv", kHeader +
                                "V100,set,net,16,adam,250,100\nV100,set,net,32,adam,250,90\n"
                                "T4,set,net,16,adam,70,300\nT4,set,net,32,adam,70,290\n"
                                "P4,set,net,32,adam,75,\n");
}

TEST(ValidateDevice, HoldsOutEachGpuInTurn) {
  const auto report = validate_device(
      bare(),
      {.format = DeviceTableFormat::kZeus, .train = {epochs()}, .split = "leave-one-gpu-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.what, "device");
  EXPECT_EQ(report->validation.split, "leave-one-gpu-out");
  EXPECT_EQ(report->validation.overall.n, 4);
  EXPECT_TRUE(report->validation.groups.contains("T4"));
  // The row without a measurement is predicted as well, in the order of the file.
  ASSERT_EQ(report->predictions.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(report->predictions[i].row, i);
    EXPECT_TRUE(report->predictions[i].predicted);
  }
  EXPECT_EQ(report->beside.size(), 3U);
}

TEST(ValidateDevice, HoldsOutNamedGpusTogetherAndPriorRowsToo) {
  const DeviceRequest both{.format = DeviceTableFormat::kZeus,
                           .train = {epochs()},
                           .split = "gpu=T4,V100",
                           .priors = {{DeviceTableFormat::kZeus, epochs()}}};
  // Nothing with a time is left to learn from.
  const auto nothing = validate_device(bare(), both);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().message, "no training row has a time");
  DeviceRequest one = both;
  one.split = "gpu=T4";
  const auto report = validate_device(bare(), one);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 2);
}

TEST(ValidateDevice, PredictsTestFilesWithoutAnswers) {
  const std::string test =
      file("test.csv",
           "gpu,dataset,network,batch,optimizer,power_limit_w\nA40,set,net,24,adam,300\n"
           "X9,set,net,24,adam,300\n");
  const auto report = validate_device(
      bare(), {.format = DeviceTableFormat::kZeus, .train = {epochs()}, .test = {test}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  ASSERT_EQ(report->predictions.size(), 2U);
  EXPECT_TRUE(report->predictions[0].p10);
  EXPECT_FALSE(report->predictions[1].predicted);
  EXPECT_EQ(report->predictions[1].note, "the catalogue has no figures of the GPU X9");
}

TEST(ValidateDevice, MeasuredColumnsOfTestFilesDoNotMatter) {
  const auto predicted = [](const std::string& seconds) {
    const std::string test =
        file("answers.csv", kHeader + "A40,set,net,24,adam,300," + seconds + "\n");
    const auto report = validate_device(
        bare(), {.format = DeviceTableFormat::kZeus, .train = {epochs()}, .test = {test}});
    return *report->predictions[0].predicted;
  };
  EXPECT_EQ(predicted("1"), predicted("1000000"));
}

TEST(ValidateDevice, ScoresABaselineAlone) {
  const auto report = validate_device(bare(), {.format = DeviceTableFormat::kZeus,
                                               .train = {epochs()},
                                               .split = "leave-one-gpu-out",
                                               .baseline = "same-time",
                                               .alone = true});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.baseline, "same-time");
  EXPECT_TRUE(report->beside.empty());
  // 100 s against 300 s and 90 s against 290 s, in both directions.
  EXPECT_NEAR(report->validation.groups.at("T4").mape, (2 / 3.0 + 200 / 290.0) / 2, 1e-9);
}

TEST(ValidateDevice, NotesWhatItDoesNotUse) {
  const auto report = validate_device(bare(), {.format = DeviceTableFormat::kZeus,
                                               .train = {epochs()},
                                               .split = "leave-one-gpu-out",
                                               .priors = {{DeviceTableFormat::kTimm, "infer.csv"}},
                                               .bundled = true});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.notes.size(), 2U);
}

TEST(ValidateDevice, RefusesWhatItCannotUse) {
  const auto error = [](const DeviceRequest& request) {
    const auto report = validate_device(bare(), request);
    EXPECT_FALSE(report.ok());
    return report.ok() ? "" : report.error().message;
  };
  constexpr DeviceTableFormat kZeus = DeviceTableFormat::kZeus;
  EXPECT_NE(error({.format = kZeus}).find("--train FILE is required"), std::string::npos);
  EXPECT_NE(error({.format = kZeus, .train = {epochs()}, .split = "thirds"}).find("--split must"),
            std::string::npos);
  EXPECT_NE(error({.format = kZeus, .train = {epochs()}, .split = "gpu=V10"}).find("V100"),
            std::string::npos);
  EXPECT_NE(error({.format = kZeus,
                   .train = {epochs()},
                   .split = "leave-one-gpu-out",
                   .baseline = "two-constants"})
                .find("peak-flops"),
            std::string::npos);
  EXPECT_FALSE(
      validate_device(bare(), {.format = kZeus, .train = {"nowhere.csv"}, .split = "gpu=T4"}).ok());
}

/// The mean error of unseen groups of a published table, where there are any.
Validation published(const char* folder_file, DeviceRequest request) {
  request.train = {std::string(std::getenv("STINT_DATA")) + folder_file};
  request.alone = true;
  const auto report = validate_device(bare(), request);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? report->validation : Validation{};
}

TEST(ValidateDevice, PredictsPublishedTables) {
  if (std::getenv("STINT_DATA") == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const Validation zeus = published(
      "/zeus/epoch_times.csv", {.format = DeviceTableFormat::kZeus, .split = "leave-one-gpu-out"});
  EXPECT_EQ(zeus.overall.n, 1029);
  EXPECT_LT(zeus.overall.mape, 0.25);
  EXPECT_NEAR(*zeus.overall.coverage80, 0.8, 0.1);
  const Validation h100 = published("/mlperf_modern/clusters.csv",
                                    {.format = DeviceTableFormat::kMlperf, .split = "gpu=H100"});
  EXPECT_GT(h100.overall.n, 300);
  EXPECT_LT(h100.overall.mape, 0.18);
  const Validation resnets = published(
      "/timm/train_rtx3090.csv", {.format = DeviceTableFormat::kTimm, .split = "family=resnet"});
  EXPECT_GT(resnets.overall.n, 100);
  EXPECT_LT(resnets.overall.mape, 0.2);
}

}  // namespace
}  // namespace stint
