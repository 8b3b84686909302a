#include "validate/validate_collective_tables.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / "stint_validate_collective_tables_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// A100s at 220 GB/s after 40 µs, and V100s at 110 GB/s, for 4 and 8 GPUs.
std::string vtrain_table() {
  std::string text = "gpu,gpus,bytes,type,time_us_out_of_place\n";
  for (const auto& [gpu, rate] : {std::pair{"A100", 220e3}, std::pair{"V100", 110e3}}) {
    for (const int gpus : {4, 8}) {
      for (double bytes = 1 << 20; bytes <= 1 << 30; bytes *= 4) {
        const double moving = 2.0 * (gpus - 1) / gpus * bytes / rate;
        text += fmt::format("{},{},{},float,{}\n", gpu, gpus, bytes, 40 + moving);
      }
    }
  }
  return text;
}

CollectiveTablesRequest vtrain(const std::string& split) {
  return {.format = CollectiveFormat::kVtrain,
          .train = {file("vtrain.csv", vtrain_table())},
          .split = split};
}

TEST(ValidateCollectiveTables, HoldsOutEachSizeInTurn) {
  const auto report = validate_collective_tables({}, vtrain("leave-one-size-out"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 24);
  EXPECT_LT(report->validation.overall.mape, 0.1);
  EXPECT_EQ(report->validation.jobs.size(), 2U);
  EXPECT_EQ(report->validation.groups.size(), 2U);
  EXPECT_EQ(report->validation.split, "leave-one-size-out");
  ASSERT_EQ(report->predictions.size(), 24U);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(report->predictions[i].row, i);
  ASSERT_EQ(report->beside.size(), 3U);
  EXPECT_EQ(report->beside[0].baseline, "line-rate");
  EXPECT_GT(report->beside[0].overall.mape, report->validation.overall.mape);
  // The rows are straight lines.
  EXPECT_EQ(report->beside[1].baseline, "alpha-beta");
  EXPECT_LT(report->beside[1].overall.mape, 1e-6);
  EXPECT_EQ(report->beside[2].baseline, "nearest-size");
  EXPECT_GT(report->beside[2].overall.mape, report->validation.overall.mape);
}

TEST(ValidateCollectiveTables, PredictsRowsWithoutTimes) {
  CollectiveTablesRequest request = vtrain("");
  request.test = {file("test.csv", "gpu,gpus,bytes\nA100,8,33554432\nH100,8,33554432\n")};
  const auto report = validate_collective_tables({}, request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  ASSERT_EQ(report->predictions.size(), 2U);
  // 40 + 1.75 · 33.55 MB / 220 GB/s = 306.9 µs.
  EXPECT_NEAR(*report->predictions[0].predicted, 306.9, 12);
  EXPECT_LT(*report->predictions[0].p10, 306.9);
  EXPECT_GT(*report->predictions[0].p90, 306.9);
  const PredictionLine& unseen = report->predictions[1];
  EXPECT_LT(*unseen.predicted, 306.9);
  EXPECT_GT(*unseen.p90 / *unseen.p10, *report->predictions[0].p90 / *report->predictions[0].p10);
}

// The measurement of a test row must not change its prediction.
TEST(ValidateCollectiveTables, DoesNotLookAtTheValuesItPredicts) {
  const auto predicted = [&](const char* time) {
    CollectiveTablesRequest request = vtrain("");
    request.test = {file("blind.csv", std::string("gpu,gpus,bytes,time_us_out_of_place\n"
                                                  "A100,8,33554432,") +
                                          time + "\n")};
    const auto report = validate_collective_tables({}, request);
    EXPECT_TRUE(report.ok());
    return *report->predictions[0].predicted;
  };
  EXPECT_DOUBLE_EQ(predicted("10"), predicted("1000"));
}

TEST(ValidateCollectiveTables, ShippedConstantsNeedNoTraining) {
  CollectiveTablesRequest request{.format = CollectiveFormat::kVtrain,
                                  .test = {file("one.csv", "gpu,gpus,bytes\nA100,8,1073741824\n")},
                                  .calibration = "bundled"};
  const auto report = validate_collective_tables({}, request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  // 1.75 GiB at 60 to 100 % of 300 GB/s.
  EXPECT_GT(*report->predictions[0].predicted, 6260);
  EXPECT_LT(*report->predictions[0].predicted, 10440);
  request.split = "leave-one-gpu-out";
  request.test = {};
  request.train = {file("vtrain.csv", vtrain_table())};
  EXPECT_EQ(validate_collective_tables({}, request).error().kind, ErrorKind::kUsage);
}

// One VM of A100s teaches what NVSwitch does, which narrows what is said of H100s.
TEST(ValidateCollectiveTables, PriorsAddRowsOfOtherTables) {
  CollectiveTablesRequest request{
      .format = CollectiveFormat::kMlEngineering,
      .train = {file("ml.csv",
                     "gpu,nodes,gpus_per_node,network,collective,bytes,busbw_gb_s\n"
                     "H200,1,8,NVLink 4,all_reduce,1073741824,460\n")},
      .test = {file("mltest.csv",
                    "gpu,nodes,gpus_per_node,network,collective,bytes\n"
                    "B200,1,8,NVLink 5,all_reduce,1048576\n")}};
  const auto alone = validate_collective_tables({}, request);
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  request.priors = {"vtrain=" + file("vtrain.csv", vtrain_table())};
  const auto with = validate_collective_tables({}, request);
  ASSERT_TRUE(with.ok()) << with.error().message;
  EXPECT_NE(*alone->predictions[0].predicted, *with->predictions[0].predicted);
  request.priors = {"vtrain.csv"};
  EXPECT_EQ(validate_collective_tables({}, request).error().kind, ErrorKind::kUsage);
}

TEST(ValidateCollectiveTables, RefusesWhatItCannotUse) {
  EXPECT_EQ(validate_collective_tables({}, vtrain("leave-one-type-out")).error().kind,
            ErrorKind::kUsage);
  EXPECT_EQ(validate_collective_tables({}, vtrain("every-other")).error().kind, ErrorKind::kUsage);
  CollectiveTablesRequest request = vtrain("leave-one-gpu-out");
  request.baseline = "bandwidth";
  EXPECT_EQ(validate_collective_tables({}, request).error().kind, ErrorKind::kUsage);
  request = vtrain("leave-one-gpu-out");
  request.format = CollectiveFormat::kSimai;
  EXPECT_EQ(validate_collective_tables({}, request).error().kind, ErrorKind::kBadInput);
  request.train = {"nowhere.csv"};
  EXPECT_EQ(validate_collective_tables({}, request).error().kind, ErrorKind::kBadInput);
  request.train = {};
  EXPECT_EQ(validate_collective_tables({}, request).error().kind, ErrorKind::kUsage);
}

TEST(ValidateCollectiveTables, ScoresPublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const auto sizes =
      validate_collective_tables({}, {.format = CollectiveFormat::kNccl,
                                      .train = {std::string(data) + "/nccl_aws/all_reduce.csv"},
                                      .split = "sizes"});
  ASSERT_TRUE(sizes.ok()) << sizes.error().message;
  EXPECT_EQ(sizes->validation.overall.n, 12);
  EXPECT_LT(sizes->validation.overall.mape, 0.16);
  for (const Validation& other : sizes->beside) {
    EXPECT_GT(other.overall.mape, sizes->validation.overall.mape) << *other.baseline;
  }
  const auto gpus = validate_collective_tables(
      {}, {.format = CollectiveFormat::kVtrain,
           .train = {std::string(data) + "/vtrain/allreduce_in_node.csv"},
           .split = "leave-one-gpu-out"});
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  EXPECT_LT(gpus->validation.overall.mape, 0.2);
}

}  // namespace
}  // namespace stint
