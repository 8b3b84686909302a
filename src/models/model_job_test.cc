#include "models/model_job.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr ImageInput kInput{.low = 4 * kMillisecond, .high = 9 * kMillisecond};

KnownModel text_model() {
  KnownModel model{.name = "tiny", .source = "test"};
  model.shape = ModelShape{.layers = 2,
                           .hidden = 4,
                           .heads = 2,
                           .feed_forward = 8,
                           .vocabulary = 10,
                           .positions = 16,
                           .tied = true};
  return model;
}

KnownModel image_model() {
  KnownModel model{.name = "net", .source = "test"};
  model.image = ImageFacts{.parameters = 1000,
                           .head_parameters = 10,
                           .multiply_adds = 1e9,
                           .activations = 1e6,
                           .convolutions = 10,
                           .side = 100};
  model.goal = CustomaryGoal{.data = "Photos", .samples = 5000, .epochs = 90, .batch = 256};
  return model;
}

JobProfile job_of(const KnownModel& model, const std::string& words) {
  const auto training = parse_training("model:" + model.name + words);
  EXPECT_TRUE(training.ok()) << training.error().message;
  const auto job = model_job(model, *training, kInput);
  EXPECT_TRUE(job.ok()) << job.error().message;
  return *job;
}

std::string error_of(const KnownModel& model, const std::string& words) {
  const auto training = parse_training("model:" + model.name + words);
  if (!training.ok()) return training.error().message;
  const auto job = model_job(model, *training, kInput);
  return job.ok() ? "" : job.error().message;
}

// 316 parameters. BF16: 2 bytes each of weight and gradient, 4 of AdamW's states. Mixed: 4, 4, 8.
TEST(ModelJob, KeepsStatesByThePrecision) {
  const JobProfile half = job_of(text_model(), ",samples=100,precision=bf16");
  EXPECT_EQ(half.gradient_bytes.in(kByte), 632);
  EXPECT_EQ(half.parameter_bytes->in(kByte), 632);
  EXPECT_EQ(half.optimizer_bytes->in(kByte), 1264);
  const JobProfile mixed = job_of(text_model(), ",samples=100");
  EXPECT_EQ(mixed.gradient_bytes.in(kByte), 1264);
  EXPECT_EQ(mixed.optimizer_bytes->in(kByte), 2528);
}

// The middle of 4 and 9 ms by ratio is 6 ms. A text is read in no time.
TEST(ModelJob, ReadsImagesWithinTheirBounds) {
  const JobProfile images = job_of(image_model(), "");
  ASSERT_TRUE(images.work->input);
  EXPECT_NEAR(images.work->input->in(kMillisecond), 6, 1e-9);
  EXPECT_FALSE(job_of(text_model(), ",samples=100").work->input);
}

// Adapters of rank 1: 4 · (4 + 4) for attention and 2 · (4 + 8) for the feed-forward network, two
// layers: 112 parameters of 2 bytes are sent.
TEST(ModelJob, SendsOnlyWhatIsTrained) {
  const JobProfile job = job_of(text_model(), ",samples=100,precision=bf16,method=lora:1");
  EXPECT_EQ(job.gradient_bytes.in(kByte), 224);
  EXPECT_EQ(job.parameter_bytes->in(kByte), 2 * (316 + 112));
  EXPECT_EQ(job.name, "tiny-lora");
}

// 1,000 tokens in sequences of 16 are 63 samples.
TEST(ModelJob, MakesSequencesOfTokens) {
  const JobProfile job = job_of(text_model(), ",tokens=1k,epochs=3");
  EXPECT_EQ(*job.samples_per_epoch, 63);
  EXPECT_EQ(*job.goal->epochs, 3);
}

TEST(ModelJob, StatesACustomaryGoalThatItAssumes) {
  const JobProfile job = job_of(image_model(), "");
  EXPECT_EQ(*job.goal->epochs, 90);
  EXPECT_EQ(job.batch->reference, 256);
  EXPECT_NE(job.work->notes.at(1).find("90 epochs of Photos"), std::string::npos);
}

// 1 G multiply-adds are 2 Gflop forward and 4 backward; an image of twice the side has four times
// as much. Frozen: forward only, and the 10 parameters of the head are sent.
TEST(ModelJob, ComputesAnImage) {
  const auto gigaflops = [](const JobProfile& job) {
    return job.flops_per_sample->in(1e9 * kFlop);
  };
  EXPECT_NEAR(gigaflops(job_of(image_model(), "")), 6, 1e-9);
  EXPECT_NEAR(gigaflops(job_of(image_model(), ",image=200")), 24, 1e-9);
  const JobProfile frozen = job_of(image_model(), ",method=frozen,precision=fp32");
  EXPECT_NEAR(gigaflops(frozen), 2, 1e-9);
  EXPECT_EQ(frozen.gradient_bytes.in(kByte), 40);
}

TEST(ModelJob, RefusesWhatMakesNoSense) {
  EXPECT_NE(error_of(text_model(), ",tokens=1k,seq=17").find("longer than the 16"),
            std::string::npos);
  EXPECT_NE(error_of(text_model(), ",tokens=1k,method=lora:0").find("rank of LoRA"),
            std::string::npos);
  EXPECT_NE(error_of(text_model(), ",tokens=1k,method=frozen:3").find("has 2 layers"),
            std::string::npos);
  EXPECT_NE(error_of(text_model(), "").find("no customary goal"), std::string::npos);
  EXPECT_NE(error_of(text_model(), ",tokens=many").find("--tokens must be"), std::string::npos);
  EXPECT_NE(error_of(text_model(), ",precision=fp12").find("--precision must be"),
            std::string::npos);
  EXPECT_NE(error_of(text_model(), ",speed=9").find("has no 'speed'"), std::string::npos);
  EXPECT_NE(error_of(image_model(), ",method=lora").find("image model"), std::string::npos);
}

TEST(ModelJob, IsReadBackFromItsText) {
  const std::string text =
      "model:tiny,tokens=100000000,epochs=3,seq=16,batch=8,precision=bf16,method=lora:4,"
      "recompute=full";
  const auto training = parse_training(text);
  ASSERT_TRUE(training.ok());
  EXPECT_EQ(to_text(*training), text);
}

TEST(ModelJob, ReadsAmounts) {
  EXPECT_EQ(parse_amount("100M"), 1e8);
  EXPECT_EQ(parse_amount("1.5k"), 1500);
  EXPECT_EQ(parse_amount("2B"), 2e9);
  EXPECT_FALSE(parse_amount("M").has_value());
  EXPECT_FALSE(parse_amount("5x").has_value());
}

}  // namespace
}  // namespace stint
