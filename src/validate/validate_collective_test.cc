#include "validate/validate_collective.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader = "instance_type,nodes,ranks,collective,bytes,time_us_out_of_place\n";

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_collective_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// Sizes 1 KiB, 4 KiB … 256 MiB of two clusters: (√20 µs + √(bytes / 10 GB/s))².
std::string perfect_pipeline() {
  std::string text = kHeader;
  for (const char* cluster : {"x1", "x2"}) {
    for (double bytes = 1024; bytes <= 256 * 1048576; bytes *= 4) {
      const double time_us = std::pow(std::sqrt(20.0) + std::sqrt(bytes / 1e4), 2);
      text += fmt::format("{},2,8,all_reduce,{},{}\n", cluster, bytes, time_us);
    }
  }
  return text;
}

// Of 1 KiB · 4^i those of 1, 4 and 16 MiB lie between 1 MiB and 64 MiB: three of each cluster, in
// rows 5, 6, 7 and, after ten rows of the first, 15, 16, 17.
TEST(ValidateCollective, PredictsTheSizesBetween) {
  const auto report =
      validate_collective({.train = {file("pipeline.csv", perfect_pipeline())}, .split = "sizes"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->predictions.size(), 6U);
  EXPECT_EQ(report->predictions[0].row, 5U);
  EXPECT_EQ(report->predictions[3].row, 15U);
  EXPECT_EQ(report->validation.overall.n, 6);
  EXPECT_EQ(report->validation.jobs.size(), 2U);
  EXPECT_LT(report->validation.overall.mape, 0.02);
  EXPECT_DOUBLE_EQ(*report->validation.overall.coverage80, 1);
  EXPECT_EQ(report->validation.split, "sizes");
  EXPECT_FALSE(report->validation.baseline.has_value());
  ASSERT_EQ(report->beside.size(), 2U);
  EXPECT_EQ(report->beside[0].baseline, "alpha-beta");
  EXPECT_EQ(report->beside[1].baseline, "bandwidth");
  EXPECT_GT(report->beside[0].overall.mape, report->validation.overall.mape);
  EXPECT_GT(report->beside[1].overall.mape, report->validation.overall.mape);
}

TEST(ValidateCollective, ScoresABaselineInstead) {
  const auto report = validate_collective({.train = {file("baseline.csv", perfect_pipeline())},
                                           .split = "sizes",
                                           .baseline = "bandwidth"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.baseline, "bandwidth");
  EXPECT_FALSE(report->beside[0].baseline.has_value());
  EXPECT_FALSE(report->predictions[0].p10.has_value());
}

TEST(ValidateCollective, PredictsRowsWithoutTimesAndSaysWhyNot) {
  const std::string test = file("test.csv",
                                "instance_type,nodes,ranks,collective,bytes\n"
                                "x1,2,8,all_reduce,1000000\n"
                                "x1,2,8,broadcast,1000000\n"
                                "new,4,32,all_reduce,1000000\n");
  const auto report =
      validate_collective({.train = {file("train.csv", perfect_pipeline())}, .test = {test}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  ASSERT_EQ(report->predictions.size(), 3U);
  // (√20 + √100)² = 209.4 µs.
  EXPECT_NEAR(*report->predictions[0].predicted * 1e6, 209.4, 5);
  EXPECT_EQ(report->predictions[1].note,
            "only all_reduce over two ranks or more is modelled, not broadcast over 8");
  const PredictionLine& unseen = report->predictions[2];
  ASSERT_TRUE(unseen.predicted.has_value());
  EXPECT_GT(*unseen.p90 / *unseen.p10, 5);
}

// The measurement of a test row must not change its prediction.
TEST(ValidateCollective, DoesNotLookAtTheTimesItPredicts) {
  const std::string train = file("blind.csv", perfect_pipeline());
  const auto predicted = [&](const char* time) {
    const std::string test =
        file("blind_test.csv", std::string(kHeader) + "x1,2,8,all_reduce,1000000," + time + "\n");
    const auto report = validate_collective({.train = {train}, .test = {test}});
    EXPECT_TRUE(report.ok());
    return *report->predictions[0].predicted;
  };
  EXPECT_DOUBLE_EQ(predicted("10"), predicted("1000"));
}

TEST(ValidateCollective, RefusesFilesItCannotUse) {
  EXPECT_EQ(validate_collective({.train = {"nowhere.csv"}, .split = "sizes"}).error().kind,
            ErrorKind::kBadInput);
  EXPECT_EQ(validate_collective({.split = "sizes"}).error().kind, ErrorKind::kUsage);
  const std::string train = file("known.csv", perfect_pipeline());
  EXPECT_EQ(validate_collective({.train = {train}, .split = "leave-one-gpu-out"}).error().message,
            "--split leave-one-gpu-out needs --format");
  EXPECT_EQ(validate_collective({.train = {train}, .split = "sizes", .baseline = "line-rate"})
                .error()
                .message,
            "--baseline line-rate needs --format");
  const auto untimed = validate_collective(
      {.train = {file("untimed.csv", std::string(kHeader) + "x1,2,8,all_reduce,8,\n")},
       .split = "sizes"});
  ASSERT_FALSE(untimed.ok());
  EXPECT_EQ(untimed.error().kind, ErrorKind::kBadInput);
}

TEST(ValidateCollective, PredictsPublishedSizes) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const auto report = validate_collective(
      {.train = {std::string(data) + "/nccl_aws/all_reduce.csv"}, .split = "sizes"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 12);
  EXPECT_LT(report->validation.overall.mape, 0.12);
  EXPECT_GT(report->beside[0].overall.mape, 0.25);
  EXPECT_GT(report->beside[1].overall.mape, 0.5);
}

}  // namespace
}  // namespace stint
