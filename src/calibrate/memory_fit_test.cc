#include "calibrate/memory_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// A model of four layers of 10 parameters and 100 elements; half as much at degree 2.
LayerTable four_layers() {
  std::vector<LayerSize> sizes;
  for (int layer = 0; layer < 4; ++layer) {
    sizes.push_back({"net", 1, layer, 10, 1, 100});
    sizes.push_back({"net", 2, layer, 5, 1, 50});
  }
  return LayerTable(sizes);
}

PlanStage stage(int first, int last, std::vector<StageReplica> replicas) {
  return {.layer_first = first, .layer_last = last, .replicas = std::move(replicas)};
}

// Two stages of two layers, microbatches of 3, 12 samples: 4 microbatches. The first stage keeps
// two in flight, 2 · 3 · 200 elements; the last one, 600.
TEST(LayerTable, CountsMicrobatchesInFlight) {
  const PlanMemory plan{.model = "net",
                        .microbatch = 3,
                        .global_batch = 12,
                        .stages = {stage(0, 1, {{"T4", 1, 1}}), stage(2, 3, {{"T4", 1, 1}})}};
  const auto loads = four_layers().loads(plan);
  ASSERT_TRUE(loads.ok()) << loads.error().message;
  ASSERT_EQ(loads->size(), 2U);
  EXPECT_DOUBLE_EQ((*loads)[0].parameters, 20);
  EXPECT_DOUBLE_EQ((*loads)[0].activations, 1200);
  EXPECT_DOUBLE_EQ((*loads)[1].activations, 600);
}

// Two replicas share 6 samples in microbatches of 3: one each, so one is in flight.
TEST(LayerTable, HasNoMoreInFlightThanThereAre) {
  const PlanMemory plan{.model = "net",
                        .microbatch = 3,
                        .global_batch = 6,
                        .stages = {stage(0, 1, {{"T4", 1, 1}, {"T4", 2, 2}}),
                                   stage(2, 3, {{"T4", 1, 1}, {"T4", 1, 1}})}};
  const auto loads = four_layers().loads(plan);
  ASSERT_TRUE(loads.ok()) << loads.error().message;
  ASSERT_EQ(loads->size(), 3U);  // Degrees 1 and 2 of the first stage, and the last stage.
  EXPECT_DOUBLE_EQ((*loads)[0].activations, 600);
  EXPECT_DOUBLE_EQ((*loads)[1].activations, 300);
  EXPECT_EQ((*loads)[1].tensor_parallel, 2);
}

TEST(LayerTable, SaysWhichSizeIsMissing) {
  const auto error = [](const PlanMemory& plan) {
    return four_layers().loads(plan).error().message;
  };
  EXPECT_EQ(error({.model = "other", .stages = {stage(0, 3, {{"T4", 1, 1}})}}),
            "no layer sizes of 'other'");
  EXPECT_EQ(error({.model = "net", .stages = {stage(0, 2, {{"T4", 1, 1}})}}),
            "the plan ends with layer 2 of net, whose last layer is 3");
  EXPECT_EQ(error({.model = "net", .stages = {stage(0, 3, {{"T4", 8, 8}})}}),
            "no size of layer 0 of net at tensor-parallel degree 8");
}

// The second load is the larger: 16 · 1 + 2 · 1,000 bytes.
TEST(PlainMemory, IsOfTheFullestStage) {
  const std::vector<StageLoad> loads{{.parameters = 100, .activations = 10},
                                     {.parameters = 1, .activations = 1000}};
  EXPECT_NEAR(plain_memory(loads).in(kByte), 2016, 1e-9);
}

/// Rows of a cluster that spends 16 bytes a parameter, `activation` an element, `overhead`, and
/// 0.3 GB a peer.
std::vector<PlanRow> made_rows(const char* cluster, double activation, Bytes overhead) {
  std::vector<PlanRow> rows;
  for (const double parameters : {0.1e9, 0.5e9}) {
    for (const double activations : {0.2e9, 1e9, 5e9}) {
      for (const int degree : {1, 4}) {
        rows.push_back({cluster,
                        {{parameters, activations, degree}},
                        (16 * parameters + activation * activations) * kByte + overhead +
                            (degree - 1) * (0.3 * kGB)});
      }
    }
  }
  return rows;
}

// 0.3 G parameters, 2 G elements at degree 2: 4.8 + 2 · 2 + 2 + 0.3 = 11.1 GB on a, and
// 4.8 + 4 · 2 + 1 + 0.3 = 14.1 GB on b.
TEST(PlanMemoryModel, FindsTheConstantsOfEachCluster) {
  auto rows = made_rows("a", 2, 2 * kGB);
  for (const PlanRow& row : made_rows("b", 4, 1 * kGB)) rows.push_back(row);
  const auto model = PlanMemoryModel::fit(rows);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const std::vector<StageLoad> loads{{0.3e9, 2e9, 2}};
  const MemoryEstimate a = model->estimate("a", loads);
  const MemoryEstimate b = model->estimate("b", loads);
  EXPECT_NEAR(a.mean.in(kGB), 11.1, 0.25);
  EXPECT_NEAR(b.mean.in(kGB), 14.1, 0.25);
  EXPECT_LT(a.p10.in(kGB), 11.1);
  EXPECT_GT(a.p90.in(kGB), 11.1);
}

TEST(PlanMemoryModel, IsLessSureOfAClusterItHasNotSeen) {
  const auto model = PlanMemoryModel::fit(made_rows("a", 2, 2 * kGB));
  ASSERT_TRUE(model.ok());
  const std::vector<StageLoad> loads{{0.3e9, 2e9, 2}};
  const MemoryEstimate seen = model->estimate("a", loads);
  const MemoryEstimate unseen = model->estimate("z", loads);
  EXPECT_GT(unseen.p90 / unseen.p10, 1.3 * (seen.p90 / seen.p10));
}

}  // namespace
}  // namespace stint
