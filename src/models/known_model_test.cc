#include "models/known_model.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kFile = R"({"models": [
  {"name": "resnet50", "family": "resnet", "aliases": ["resnet-50 v1.5"], "source": "timm",
   "date": "2026-08-08", "parameters": 25560000,
   "image": {"parameters": 25560000, "multiply_adds": 4.11e9, "activations": 11110000},
   "goal": {"data": "ImageNet-1k", "samples": 1281167, "epochs": 90, "batch": 256}},
  {"name": "gpt2", "family": "GPT-2", "source": "config.json", "date": "2026-11-18",
   "parameters": 124439808, "config": {"model_type": "gpt2", "n_embd": 768, "n_head": 12,
   "n_layer": 12, "n_positions": 1024, "vocab_size": 50257}}]})";

TEST(KnownModel, ReadsShapesAndImageFacts) {
  const auto models = read_models(kFile, "test");
  ASSERT_TRUE(models.ok()) << models.error().message;
  ASSERT_EQ(models->size(), 2U);
  EXPECT_EQ(models->at(0).image->multiply_adds, 4.11e9);
  EXPECT_EQ(models->at(0).goal->epochs, 90);
  EXPECT_EQ(parameters(models->at(1)), 124'439'808);
}

TEST(KnownModel, IsFoundByAnySpelling) {
  const auto models = read_models(kFile, "test");
  ASSERT_TRUE(models.ok());
  EXPECT_EQ((*find_model(*models, "ResNet-50"))->name, "resnet50");
  EXPECT_EQ((*find_model(*models, "ResNet-50 v1.5"))->name, "resnet50");
  const auto wrong = find_model(*models, "resnet51");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("'resnet50'"), std::string::npos) << wrong.error().message;
}

TEST(KnownModel, RefusesRowsWithoutSourceDateOrFacts) {
  for (const char* row :
       {R"({"models": [{"name": "a", "date": "2026-01-01"}]})",
        R"({"models": [{"name": "a", "source": "b", "date": "soon"}]})",
        R"({"models": [{"name": "a", "source": "b", "date": "2026-01-01"}]})", R"({})"}) {
    EXPECT_FALSE(read_models(row, "test").ok()) << row;
  }
}

TEST(KnownModel, IsCalledLikeTheFolderOfItsConfiguration) {
  const char* config = R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1,
                           "n_positions": 8, "vocab_size": 9})";
  EXPECT_EQ(model_of_config(config, "/a/mine/config.json")->name, "mine");
  EXPECT_EQ(model_of_config(config, "small.json")->name, "small");
}

}  // namespace
}  // namespace stint
