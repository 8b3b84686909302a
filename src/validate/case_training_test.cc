#include "validate/case_training.h"

#include <gtest/gtest.h>

#include "load/catalog_cases.h"

namespace stint {
namespace {

constexpr FlopsPerSecond kTera = 1e12 * kFlop / kSecond;

Gpu gpu() {
  return {
      .name = "A", .memory = 40 * kGB, .fp32 = 20 * kTera, .tf32 = 50 * kTera, .fp16 = 100 * kTera};
}

PublishedCase resnet() {
  return {.id = "a-01",
          .group = "a",
          .model = "ResNet-50 v1.5",
          .task = "ImageNet",
          .precision = "amp",
          .batch_per_worker = 256,
          .vms = 1,
          .workers = 8,
          .gpu = "V100",
          .metric = CaseMetric::kSamplesPerSecond};
}

TEST(CaseTraining, FindsTheModelThatIsMeant) {
  for (const auto& [name, known] : {std::pair("BERT-base SQuAD", "bert-base"),
                                    {"LLaMA-7B (Alpaca)", "llama-2-7b"},
                                    {"Llama 3.1 8B", "llama-3.1-8b"},
                                    {"GPT-2 124M class", "gpt2"},
                                    {"Mask R-CNN R50-FPN 1x", "mask-rcnn-r50-fpn"}}) {
    const auto model = model_of_case({.model = name});
    ASSERT_TRUE(model.ok()) << name;
    EXPECT_EQ(model->name, known);
  }
  EXPECT_FALSE(model_of_case({.model = "Custom ResNet 9"}).ok());
}

TEST(CaseTraining, ReadsAGptFromItsWords) {
  const auto model = model_of_case({.model = "GPT 498M (hidden 1536, 16 layers)"});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->shape->hidden, 1536);
  EXPECT_EQ(model->shape->layers, 16);
  EXPECT_NEAR(parameters(*model) / 1e6, 498, 45);  // Their vocabulary is padded otherwise.
}

TEST(CaseTraining, TakesBatchAndPrecisionOfTheCase) {
  const auto training = training_of_case(resnet(), gpu());
  ASSERT_TRUE(training.ok()) << training.error().message;
  EXPECT_EQ(training->batch, 256);
  EXPECT_EQ(training->job.work->precision, WorkPrecision::kMixed);
  EXPECT_TRUE(training->assumed.empty());
}

TEST(CaseTraining, LeavesThePrecisionOfImageModelsOpenOnTensorUnits) {
  PublishedCase it = resnet();
  EXPECT_FALSE(precision_is_open(it, gpu()));
  it.precision.clear();
  EXPECT_TRUE(precision_is_open(it, gpu()));
  Gpu plain = gpu();  // Without tensor units: no TF32, and FP16 hardly faster.
  plain.tf32.reset();
  plain.fp16 = 1.5 * *plain.fp32;
  EXPECT_FALSE(precision_is_open(it, plain));
  it.model = "BERT-base";
  EXPECT_FALSE(precision_is_open(it, gpu()));
}

TEST(CaseTraining, ReadsNoImagesWhereTheDataAreSynthetic) {
  PublishedCase it = resnet();
  EXPECT_TRUE(training_of_case(it, gpu())->job.work->input);
  it.task = "tf_cnn_benchmarks, Synthetic";
  EXPECT_FALSE(training_of_case(it, gpu())->job.work->input);
}

// 1,024 tokens a sequence: 64 sequences on each of 8 workers are the whole batch.
TEST(CaseTraining, CountsMicroStepsOfTokens) {
  PublishedCase it{.id = "l-01",
                   .model = "GPT-2 124M",
                   .batch_per_worker = 16,
                   .vms = 1,
                   .workers = 8,
                   .gpu = "A100",
                   .metric = CaseMetric::kIterationTime};
  it.tokens_batch = 524288;
  it.size = 1024;
  const auto training = training_of_case(it, gpu());
  ASSERT_TRUE(training.ok()) << training.error().message;
  EXPECT_EQ(training->accumulation, 4);
}

TEST(CaseTraining, SaysWhatKeepsACaseFromBeingPredicted) {
  const auto error_of = [](PublishedCase it) {
    const auto training = training_of_case(it, gpu());
    return training.ok() ? "" : training.error().message;
  };
  PublishedCase it = resnet();
  it.batch_per_worker.reset();
  EXPECT_NE(error_of(it).find("batch is not stated"), std::string::npos);
  it = resnet();
  it.model = "Llama 2 7B";
  EXPECT_NE(error_of(it).find("length of a sequence"), std::string::npos);
  it.task = "LoRA, bnb.nf4";
  EXPECT_NE(error_of(it).find("fewer than 16 bits"), std::string::npos);
  it.task = "full, CPU offload";
  EXPECT_NE(error_of(it).find("host"), std::string::npos);
}

}  // namespace
}  // namespace stint
