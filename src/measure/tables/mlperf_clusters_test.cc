#include "measure/tables/mlperf_clusters.h"

#include <gtest/gtest.h>
#include <string>

namespace stint {
namespace {

const std::string kHeader =
    "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
    "global_batch,samples_per_s,step_s\n";

Result<std::vector<MlperfRow>> read(const std::string& text) {
  const auto csv = Csv::parse(text, "m.csv");
  if (!csv.ok()) return csv.error();
  return read_mlperf_clusters(*csv);
}

TEST(MlperfClusters, ReadsRowsAndTheRateWhereTheStepIsBlank) {
  // 3200 images at 6400 images a second take half a second.
  const auto rows = read(kHeader + "v3.1,Dell,resnet,NVIDIA H100,H100,8,1,8,3200,6400,\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->front().round, "v3.1");
  EXPECT_EQ(rows->front().global_batch, 3200);
  EXPECT_EQ(rows->front().step, 0.5 * kSecond);
  EXPECT_TRUE(is_one_node(rows->front()));
}

TEST(MlperfClusters, ReadsRowsWithoutAnswersAndProcessorsOnly) {
  const auto rows = read(
      "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
      "global_batch\nv3.0,Intel,dlrm,N/A,N/A,0,1,0,256\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE(rows->front().step);
  EXPECT_FALSE(rows->front().accelerators);
}

TEST(MlperfClusters, KnowsOneMachineFromSeveral) {
  EXPECT_TRUE(is_one_node({.nodes = 1}));
  EXPECT_TRUE(is_one_node({.accelerators = 8, .accelerators_per_node = 8}));
  EXPECT_FALSE(is_one_node({.accelerators = 16, .nodes = 2, .accelerators_per_node = 8}));
  EXPECT_FALSE(is_one_node({}));
}

// 8 accelerators that take 0.5 s for 3,200 samples: 8 · 0.5 s / 3,200 = 1.25 ms each for a sample.
TEST(MlperfClusters, BecomesSecondsOfOneAcceleratorForASample) {
  MlperfRow row{.benchmark = "bert",
                .accelerator = "NVIDIA H100-SXM5-80GB",
                .accelerators = 8,
                .nodes = 1,
                .global_batch = 3200,
                .step = 0.5 * kSecond};
  MlperfRow larger = row;
  larger.nodes = 2;
  MlperfRow unmeasured = row;
  unmeasured.step.reset();
  const std::vector<MlperfRow> rows = {row, larger, unmeasured};
  const auto steps = steps_of(rows);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].job, "bert");
  EXPECT_EQ(steps[0].device, "NVIDIA H100-SXM5-80GB");
  EXPECT_NEAR(steps[0].time->in(kMillisecond), 1.25, 1e-12);
}

TEST(MlperfClusters, RefusesBadCells) {
  EXPECT_FALSE(read(kHeader + "v3.1,Dell,,H100,H100,8,1,8,3200,6400,1\n").ok());
  EXPECT_FALSE(read(kHeader + "v3.1,Dell,bert,H100,H100,eight,1,8,3200,6400,1\n").ok());
  EXPECT_FALSE(read(kHeader + "v3.1,Dell,bert,H100,H100,8,1,8,3200,6400,-1\n").ok());
  EXPECT_FALSE(read("round,benchmark,gpu,global_batch\nv3.1,bert,H100,1\n").ok());
}

TEST(MlperfClusters, KnowsItsTablesByTheirHeaders) {
  EXPECT_TRUE(is_mlperf_clusters(*Csv::parse(kHeader, "m.csv")));
  const auto runs = Csv::parse("round,benchmark,run,global_batch,epoch_stops\n", "m.csv");
  EXPECT_TRUE(is_mlperf_runs(*runs));
  EXPECT_FALSE(is_mlperf_clusters(*runs));
}

}  // namespace
}  // namespace stint
