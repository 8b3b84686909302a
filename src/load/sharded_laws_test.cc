#include "load/sharded_laws.h"

#include <gtest/gtest.h>

#include "load/predict_inputs.h"

namespace stint {
namespace {

std::optional<ShardedModel> model_of(const std::string& name) {
  const auto job = load_job(name);
  EXPECT_TRUE(job.ok());
  const auto model = load_sharded_model(name, job->noun);
  EXPECT_TRUE(model.ok());
  return *model;
}

TEST(ShardedLaws, AreThere) {
  const auto laws = load_sharded_laws();
  ASSERT_TRUE(laws.ok()) << laws.error().message;
  EXPECT_GT(laws->spread, 0);
  EXPECT_GT(laws->memory.spread, 0);
}

TEST(ShardedModels, KnowTheStatesOfATraining) {
  const auto model = model_of("model:llama-2-7b,method=full,tokens=1M");
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->parameters(), 6.738e9, 1e6);
  EXPECT_DOUBLE_EQ(model->setup.trained, 1);
  EXPECT_FALSE(model->setup.frozen_products);
  EXPECT_EQ(model->bounds.heads, 32);
}

TEST(ShardedModels, FreezeTheWeightsOfLora) {
  const auto model = model_of("model:llama-2-7b,method=lora:16,tokens=1M");
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->setup.frozen_products);
  EXPECT_NEAR(model->setup.trained, 40e6 / 6.738e9, 1e-3);
}

TEST(ShardedModels, AreTransformersOnly) {
  EXPECT_FALSE(model_of("model:resnet50"));
  EXPECT_FALSE(model_of("bert"));
}

}  // namespace
}  // namespace stint
