#include "validate/validate_memory_plans.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// Two layers of `parameters` and `activations` each, at degree 1.
void add_model(std::vector<LayerSize>& sizes, const char* model, std::int64_t parameters,
               std::int64_t activations) {
  for (int layer = 0; layer < 2; ++layer) {
    sizes.push_back({model, 1, layer, parameters, 1, activations});
  }
}

LayerTable layers() {
  std::vector<LayerSize> sizes;
  add_model(sizes, "small", 50'000'000, 100'000'000);
  add_model(sizes, "large", 200'000'000, 300'000'000);
  return LayerTable(sizes);
}

/// One stage that takes 16 bytes a parameter, 3 an activation and 2 GB.
PlanMemory plan(const char* model, int microbatch, double parameters, double activations) {
  return {.cluster = "c",
          .model = model,
          .microbatch = microbatch,
          .global_batch = 64,
          .stages = {{.layer_first = 0, .layer_last = 1, .replicas = {{"T4", 1, 1}}}},
          .memory_peak = (16 * parameters + 3 * microbatch * activations) * kByte + 2 * kGB};
}

std::vector<PlanMemory> plans() {
  std::vector<PlanMemory> list;
  for (const int microbatch : {1, 2, 4, 8}) {
    list.push_back(plan("small", microbatch, 1e8, 2e8));
    list.push_back(plan("large", microbatch, 4e8, 6e8));
  }
  return list;
}

TEST(ValidatePlans, PredictsAJobFromTheOthers) {
  const auto report = validate_plans(plans(), {}, layers(), {.split = "leave-one-job-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 8);
  EXPECT_LT(report->validation.overall.mape, 0.1);
  EXPECT_EQ(report->validation.jobs.size(), 2U);
  ASSERT_EQ(report->beside.size(), 1U);
  EXPECT_EQ(report->beside[0].baseline, "plain");
  EXPECT_GT(report->beside[0].overall.mape, 0.25);
}

// 16 · 0.1 G + 2 · 0.2 G = 2 GB where 1.6 + 0.6 + 2 = 4.2 GB were measured: an error of 11/21.
TEST(ValidatePlans, PlainIsWithoutAFit) {
  const auto report =
      validate_plans(plans(), {plan("small", 1, 1e8, 2e8)}, layers(), {.plain = true});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->predictions.size(), 1U);
  EXPECT_NEAR(*report->predictions[0].predicted, 2e9, 1);
  EXPECT_NEAR(report->validation.overall.mape, 11.0 / 21, 1e-9);
}

TEST(ValidatePlans, NeitherLearnsFromNorPredictsAPlanThatDoesNotMatch) {
  auto odd = plan("small", 1, 1e8, 2e8);
  odd.stages[0].layer_last = 0;
  odd.memory_peak = 500 * kGB;
  auto train = plans();
  train.push_back(odd);
  const auto report = validate_plans(train, {plan("small", 2, 1e8, 2e8), odd}, layers(), {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 1);
  EXPECT_EQ(report->validation.overall.skipped, 1);
  EXPECT_LT(report->validation.overall.mape, 0.05);
  EXPECT_EQ(report->predictions[1].note,
            "the plan ends with layer 0 of small, whose last layer is 1");
}

TEST(ValidatePlans, RefusesOtherSplitsAndNothingToLearnFrom) {
  EXPECT_EQ(validate_plans(plans(), {}, layers(), {.split = "leave-one-device-out"}).error().kind,
            ErrorKind::kUsage);
  // All plans are of one cluster, so that nothing is left.
  const auto alone = validate_plans(plans(), {}, layers(), {.split = "leave-one-cluster-out"});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
