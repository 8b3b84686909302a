#include "job/job.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

JobProfile sample() {
  JobProfile job{.name = "resnet50", .gradient_bytes = 100 * kMB};
  job.buckets = {{.bytes = 60 * kMB, .ready = 0.5}, {.bytes = 40 * kMB, .ready = 1}};
  job.compute = {{.device = "T4",
                  .batch_per_worker = 32,
                  .forward = {.median = 70 * kMillisecond},
                  .backward = {.median = 140 * kMillisecond},
                  .update = {.median = 3 * kMillisecond}}};
  job.samples_per_epoch = 1281167;
  job.goal = Goal{.epochs = 90};
  job.batch = BatchRange{.reference = 256, .min = 64, .max = 8192};
  job.learning_rate_rule = LearningRateRule::kSquareRoot;
  return job;
}

std::string error_of(const JobProfile& job) {
  const Status status = validate(job);
  return status.ok() ? "" : status.error().message;
}

TEST(Job, ReadsWhatItWrites) {
  const std::string text = write_job(sample());
  const auto loaded = read_job(text, "job.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_job(loaded->noun), text);
  EXPECT_EQ(loaded->noun.compute[0].forward.median, 70 * kMillisecond);
  EXPECT_EQ(loaded->noun.learning_rate_rule, LearningRateRule::kSquareRoot);
}

TEST(Job, WritesTimesInOneUnit) {
  JobProfile job = sample();
  job.compute[0].backward.median = 1.234 * kSecond;
  job.compute[0].update.median = 98.7 * kMicrosecond;
  const std::string text = write_job(job);
  for (const char* part : {"\"70 ms\"", "\"1234 ms\"", "\"0.0987 ms\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  const auto back = read_job(text, "job.json");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->noun.compute[0].update.median, job.compute[0].update.median);
}

TEST(Job, SaysHowTheScriptTrains) {
  JobProfile job = sample();
  job.training = TrainingMethod{.optimizers = {"Adam", "Adam"},
                                .accumulation = 4,
                                .autocast = "bfloat16",
                                .gradient_scaler = false,
                                .frozen = 3 * kMB};
  const std::string text = write_job(job);
  const auto back = read_job(text, "job.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_TRUE(back->warnings.empty());
  EXPECT_EQ(write_job(back->noun), text);
  EXPECT_EQ(back->noun.training->frozen, 3 * kMB);
  EXPECT_EQ(back->noun.training->gradient_scaler, false);
  EXPECT_FALSE(back->noun.training->compiled.has_value());
  job.training->accumulation = 0;
  EXPECT_EQ(error_of(job), "job: /training/accumulation: must be 1 or more, not 0");
}

TEST(Job, RefusesWhatContradictsItself) {
  EXPECT_EQ(error_of(sample()), "");

  JobProfile leaking = sample();
  leaking.buckets[0].bytes = 30 * kMB;
  EXPECT_EQ(error_of(leaking),
            "job: the buckets add up to 0.7 times gradient_bytes; the two must be equal");

  JobProfile disordered = sample();
  disordered.buckets[1].ready = 0.2;
  EXPECT_EQ(error_of(disordered), "job: buckets must be in the order in which they become ready");

  JobProfile endless = sample();
  endless.samples_per_epoch.reset();
  EXPECT_EQ(error_of(endless), "job: a goal in epochs needs samples_per_epoch; add it");

  JobProfile torn = sample();
  torn.goal->samples = 1e6;
  EXPECT_EQ(error_of(torn), "job: /goal: exactly one of epochs, samples and target is required");

  JobProfile outside = sample();
  outside.batch->min = 512;
  EXPECT_EQ(error_of(outside), "job: /batch: min must not be more than reference");
  outside.batch = BatchRange{.reference = 256, .max = 128};
  EXPECT_EQ(error_of(outside), "job: /batch: max must not be less than reference");

  JobProfile instant = sample();
  instant.compute[0].update = {};
  EXPECT_EQ(error_of(instant), "");
  instant.compute[0].backward = {};
  EXPECT_EQ(error_of(instant),
            "job: /compute/0: the backward median of T4 at a batch of 32 must be above zero; "
            "measure again");
  instant.compute[0].forward = {};
  EXPECT_NE(error_of(instant).find("the forward median"), std::string::npos);

  JobProfile weightless = sample();
  weightless.gradient_bytes = Bytes{};
  EXPECT_EQ(error_of(weightless), "job: /gradient_bytes: must be above zero, not 0");
}

// 1e9 epochs of 1e9 samples are 1e18.
TEST(Job, AGoalHasAtMost1e15Samples) {
  JobProfile job = sample();
  job.samples_per_epoch = 1'000'000'000;
  job.goal = Goal{.epochs = 1e9, .samples = {}, .target = {}};
  EXPECT_EQ(error_of(job), "job: the epochs of the goal are 1e+18 samples; the maximum is 1e+15");
  job.goal = Goal{.epochs = {}, .samples = 1e300, .target = {}};
  EXPECT_EQ(error_of(job),
            "job: /goal/samples: must be from 1e-100 to 1000000000000000, not 1e+300");
}

}  // namespace
}  // namespace stint
