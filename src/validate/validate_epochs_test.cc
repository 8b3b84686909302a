#include "validate/validate_epochs.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader = "dataset,network,batch,optimizer,learning_rate,run,target_metric";

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_epochs_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// Epochs to a target grow by a third with each doubling of the batch from 8 on.
std::string workload(const std::string& data, bool measured) {
  std::string text;
  double epochs = 12;
  for (const int batch : {8, 16, 32, 64, 128}) {
    text += fmt::format("{},net,{},sgd,0.1,1,0.5", data, batch);
    text += measured ? fmt::format(",{}\n", std::round(epochs)) : "\n";
    epochs *= 4.0 / 3;
  }
  return text;
}

std::string table(const std::string& rows) { return std::string(kHeader) + ",epochs\n" + rows; }

std::string three() {
  return table(workload("a", true) + workload("b", true) + workload("sentiment140", true));
}

// 15 rows; the smallest batch of each workload stays in training, and one workload is apart.
TEST(ValidateEpochs, KeepsTheSmallestBatchOfALeftOutWorkload) {
  const auto report =
      validate_epochs({.train = {file("three.csv", three())}, .split = "leave-one-job-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->predictions.size(), 12U);
  EXPECT_EQ(report->validation.overall.n, 8);
  EXPECT_EQ(report->validation.jobs.size(), 3U);
  EXPECT_EQ(report->beside.size(), 4U);
}

TEST(ValidateEpochs, PredictsEachBatchFromTheOthers) {
  const auto report =
      validate_epochs({.train = {file("batches.csv", three())}, .split = "leave-one-batch-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 10);
  EXPECT_LT(report->validation.overall.mape, 0.25);
  ASSERT_EQ(report->predictions.size(), 15U);
  EXPECT_LT(*report->predictions[2].p10, *report->predictions[2].predicted);
}

TEST(ValidateEpochs, PredictsRowsWhoseEpochsAreMissing) {
  const auto report =
      validate_epochs({.train = {file("train.csv", three())},
                       .test = {file("test.csv", std::string(kHeader) + "\n" +
                                                     "a,net,256,sgd,0.1,1,0.5\n"
                                                     "c,net,256,sgd,0.1,1,0.5\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  ASSERT_EQ(report->predictions.size(), 2U);
  EXPECT_GT(*report->predictions[0].predicted, 30);
  EXPECT_FALSE(report->predictions[1].predicted.has_value());
  EXPECT_NE(report->predictions[1].note.find("no training row"), std::string::npos);
}

TEST(ValidateEpochs, ScoresABaselineInstead) {
  const auto report = validate_epochs({.train = {file("base.csv", three())},
                                       .split = "leave-one-batch-out",
                                       .baseline = "constant-samples"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.baseline, "constant-samples");
  EXPECT_FALSE(report->validation.overall.coverage80.has_value());
}

}  // namespace
}  // namespace stint
