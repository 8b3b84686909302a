#include "load/model_files.h"

#include <gtest/gtest.h>

#include "load/predict_inputs.h"

namespace stint {
namespace {

TEST(ModelFiles, CountTheParametersThatWerePublished) {
  ASSERT_GE(known_models().size(), 80U);
  for (const KnownModel& it : known_models()) {
    EXPECT_EQ(parameters(it), it.published_parameters) << it.name;
    EXPECT_FALSE(it.source.empty()) << it.name;
  }
}

TEST(ModelFiles, MakeAJobOfEveryModel) {
  for (const KnownModel& it : known_models()) {
    const auto job = load_model_job("model:" + it.name + ",samples=1000");
    ASSERT_TRUE(job.ok()) << job.error().message;
    EXPECT_TRUE(validate(*job).ok()) << it.name;
    EXPECT_GT(*job->flops_per_sample, Flops{}) << it.name;
  }
}

// 6 flops for each parameter and token is the usual estimate; attention comes on top.
TEST(ModelFiles, AgreeWithSixFlopsAParameterAndToken) {
  const auto job = load_model_job("model:llama-3-8b,tokens=1M,seq=2048");
  ASSERT_TRUE(job.ok());
  const double estimate = 6 * (8.03e9 - 128256 * 4096.0) * 2048;  // Embeddings are looked up.
  EXPECT_NEAR(job->flops_per_sample->in(kFlop) / estimate, 1.03, 0.03);
}

TEST(ModelFiles, GiveTheNameOfAJobItsProfile) {
  const auto job = load_job("model:resnet50,epochs=1");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->noun.name, "resnet50");
  EXPECT_EQ(profile_path("model:resnet50"), "model:resnet50");
  EXPECT_FALSE(load_job("model:resnet51").ok());
  EXPECT_FALSE(load_model("/nowhere/config.json").ok());
}

}  // namespace
}  // namespace stint
