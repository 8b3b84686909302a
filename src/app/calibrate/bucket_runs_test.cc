#include "app/calibrate/bucket_runs.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "load/bundled.h"
#include "load/catalog_cases.h"
#include "measure/measurement.h"

namespace stint {
namespace {

Catalog catalog() { return load_catalog({})->noun; }

// local.small has 100 Mbit/s and local.large 500: the slowest is the former. The median of 1, 2 and
// 4 s is 2 s; the deviations from it are 1, 0 and 2 s, the middle one of which is 1 s.
TEST(ReductionRows, KnowTheNicsOfTheVmsThatTookPart) {
  const MeasuredReduction reduction{.cluster = *parse_cluster("2x local.small + 2x local.large"),
                                    .vms = {1, 2},
                                    .bytes = 5 * kMB,
                                    .rounds = {{1 * kSecond, 2 * kSecond}, {4 * kSecond}}};
  const auto rows = reduction_rows({reduction}, catalog());
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  const ReductionRow& row = rows->front();
  EXPECT_EQ(row.vms, 2);
  EXPECT_EQ(row.bytes, 5 * kMB);
  EXPECT_DOUBLE_EQ(row.slowest.in(kMbit / kSecond), 100);
  EXPECT_DOUBLE_EQ(row.total.in(kMbit / kSecond), 600);
  EXPECT_EQ(row.time, 2 * kSecond);
  EXPECT_NEAR(row.deviation, 1.4826 / 2, 1e-9);
}

TEST(ReductionRows, ATypeMustBeInTheCatalogue) {
  const MeasuredReduction reduction{.cluster = *parse_cluster("2x local.nothing"),
                                    .vms = {0, 1},
                                    .bytes = 5 * kMB,
                                    .rounds = {{1 * kSecond}}};
  EXPECT_FALSE(reduction_rows({reduction}, catalog()).ok());
}

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_bucket_runs_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
}

/// A run of a shipped job on the emulated cloud, each of whose iterations took `seconds`.
std::string run(const std::string& cluster, const std::vector<double>& seconds,
                const std::string& job = "paced-20mb") {
  const auto parsed = *parse_cluster(cluster);
  Layout layout{.cluster = parsed};
  layout.setups.assign(parsed.groups.size(), {.workers_per_vm = 1, .batch_per_worker = 32});
  std::string text =
      write_measurement({.run = cluster, .start = RunStart{.job = job, .layout = layout}});
  std::int64_t number = 0;
  for (const double time : seconds) {
    const IterationRecord record{.number = number++, .time = time * kSecond};
    text += write_measurement({.run = cluster, .iteration = record});
  }
  return text;
}

TEST(CalibrateBuckets, CountsRowsAndSaysWhereTheyAreFrom) {
  const std::string train =
      file("train.jsonl", run("2x local.medium", {1.57}) + run("4x local.medium", {1.89}) +
                              run("1x local.small + 2x local.medium", {3.05}));
  const std::string out = file("lab.json", "");
  const auto calibration = calibrate_buckets(
      at_day_one(), {.train = {train}, .name = "lab", .provenance = "a test", .out = out});
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->data.front().rows, 3);
  EXPECT_EQ(calibration->data.front().provenance, "a test");
  EXPECT_EQ(calibration->accuracy.front().n, 3);
  EXPECT_TRUE(load_calibration(out).ok());
}

TEST(CalibrateBuckets, AsksForRunsAndAName) {
  EXPECT_FALSE(calibrate_buckets(at_day_one(), {.name = "lab"}).ok());
  const std::string asked = file("started.jsonl", run("2x local.medium", {}));
  EXPECT_FALSE(calibrate_buckets(at_day_one(), {.train = {asked}}).ok());
  EXPECT_FALSE(calibrate_buckets(at_day_one(), {.train = {asked}, .name = "lab"}).ok());
}

}  // namespace

}  // namespace stint
