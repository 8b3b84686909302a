#include "measure/trace/profile_summary.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kStart =
    R"({"schema": "stint.profile/1", "rank": 0, "start": {"world": 2, "device": "T4", )"
    R"("environment": {"torch": "1.13"}, "gradient_bytes": 100, "parameter_bytes": 120, )"
    R"("optimizer_bytes": 0, "optimizer": "SGD", "communication": "timed"}})"
    "\n";
constexpr const char* kStep =
    R"({"schema": "stint.profile/1", "rank": 1, "iteration": {"number": 7, "warmup": false, )"
    R"("sampled": true, "batch": 8, "passes": 1, "time_s": 0.5, "input_s": 0.01, )"
    R"("forward_s": 0.1, "backward_s": 0.2, "update_s": 0.05, "peak_bytes": 1000, )"
    R"("buckets": [{"bytes": 100, "ready_s": 0.15, "reduce_s": 0.02}], )"
    R"("local_square": 4, "mean_square": 3}})"
    "\n";
constexpr const char* kExit =
    R"({"schema": "stint.profile/1", "rank": 0, "exit": {"backwards": 3, "steps": 2}})"
    "\n";

TEST(ProfileRecords, ReadsEveryKindOfLine) {
  const auto read = read_profile_records(std::string(kStart) + kStep + kExit, "records");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->warnings.empty());
  ASSERT_EQ(read->noun.size(), 3U);
  EXPECT_EQ(read->noun[0].start->world, 2);
  EXPECT_EQ(read->noun[0].start->parameter_bytes, 120 * kByte);
  EXPECT_FALSE(read->noun[0].start->dataset.has_value());
  const ProfiledStep& step = *read->noun[1].iteration;
  EXPECT_EQ(read->noun[1].rank, 1);
  EXPECT_EQ(step.batch, 8);
  EXPECT_EQ(step.backward, 0.2 * kSecond);
  EXPECT_EQ(step.buckets.at(0).reduce, 0.02 * kSecond);
  EXPECT_EQ(step.local_square, 4.0);
  EXPECT_EQ(read->noun[2].exit->backwards, 3);
}

TEST(ProfileRecords, ALineThatWasCutOffIsLeftOutWithAWarning) {
  const std::string text = std::string(kStart) + std::string(kStep).substr(0, 50);
  const auto read = read_profile_records(text, "records");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->noun.size(), 1U);
  EXPECT_EQ(read->warnings,
            std::vector<std::string>{"records:2: truncated during a write; skipped"});
}

TEST(ProfileRecords, AnyOtherBadLineIsAnError) {
  const auto cut = read_profile_records(std::string("{\"sch\n") + kStep, "records");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().kind, ErrorKind::kBadInput);
  std::string negative = kStep;
  negative.insert(negative.find("0.1, \"backward"), "-");
  EXPECT_FALSE(read_profile_records(negative, "records").ok());
  EXPECT_FALSE(read_profile_records("{\"schema\": \"stint.job/1\"}\n", "records").ok());
  EXPECT_TRUE(read_profile_records("", "records").ok());
}

constexpr int kBatch = 8;

ProfileRecord start_of(int world) {
  ProfileRecord record;
  record.start = ProfileStart{.world = world,
                              .device = "T4",
                              .environment = {{"torch", "1.13"}},
                              .gradient_bytes = 100 * kByte,
                              .parameter_bytes = 120 * kByte,
                              .optimizer_bytes = 200 * kByte,
                              .optimizer = "SGD",
                              .dataset = 5000,
                              .communication = world > 1 ? "timed" : "none"};
  return record;
}

/// An iteration of 10 ms forward, 20 ms backward and 5 ms update.
ProfileRecord step_of(int rank, int number) {
  ProfileRecord record{.rank = rank};
  record.iteration = ProfiledStep{.number = number,
                                  .batch = kBatch,
                                  .time = 40 * kMillisecond,
                                  .input = 4 * kMillisecond,
                                  .forward = 10 * kMillisecond,
                                  .backward = 20 * kMillisecond,
                                  .update = 5 * kMillisecond,
                                  .peak = 1000 * kByte};
  return record;
}

TEST(SummariseProfile, LeavesWarmUpSampledAndSmallerBatchesOut) {
  std::vector<ProfileRecord> records = {start_of(1)};
  for (int i = 0; i < 8; ++i) records.push_back(step_of(0, i));
  records[1].iteration->warmup = true;
  records[1].iteration->forward = 1 * kSecond;
  records[2].iteration->sampled = true;
  records[2].iteration->forward = 1 * kSecond;
  records[2].iteration->buckets = {{.bytes = 40 * kByte, .ready = 5 * kMillisecond},
                                   {.bytes = 60 * kByte, .ready = 20 * kMillisecond}};
  records[3].iteration->batch = 3;
  records[3].iteration->forward = 1 * kMillisecond;
  const auto summary = summarise_profile(records, std::nullopt);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->compute.batch_per_worker, kBatch);
  EXPECT_NEAR(summary->compute.forward.median.in(kMillisecond), 10, 1e-9);
  EXPECT_EQ(summary->compute.forward.spread, Seconds{});
  EXPECT_EQ(summary->compute.forward.count, 5);
  EXPECT_EQ(summary->steps, 6);
  EXPECT_EQ(summary->compute.peak_memory, 1000 * kByte);
  EXPECT_NEAR(summary->input->median.in(kMillisecond), 4, 1e-9);
  EXPECT_FALSE(summary->exposed.has_value());
  ASSERT_EQ(summary->buckets.size(), 2U);
  EXPECT_NEAR(summary->buckets[0].ready, 0.25, 1e-12);
  EXPECT_NEAR(summary->buckets[1].ready, 1, 1e-12);
  EXPECT_FALSE(summary->buckets[0].reduce.has_value());
}

// The last bucket is ready after 16 of 20 ms: the other 4 are waited for the network.
TEST(SummariseProfile, WithWorkersBackwardEndsWhenTheLastBucketIsReady) {
  std::vector<ProfileRecord> records = {start_of(2)};
  for (int i = 0; i < 6; ++i) {
    for (const int rank : {0, 1}) {
      ProfileRecord step = step_of(rank, i);
      step.iteration->buckets = {
          {.bytes = 40 * kByte, .ready = 4 * kMillisecond, .reduce = 3 * kMillisecond},
          {.bytes = 60 * kByte, .ready = 16 * kMillisecond, .reduce = 4 * kMillisecond}};
      records.push_back(step);
    }
  }
  const auto summary = summarise_profile(records, std::nullopt);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_NEAR(summary->compute.backward.median.in(kMillisecond), 16, 1e-9);
  EXPECT_NEAR(summary->exposed->median.in(kMillisecond), 4, 1e-9);
  EXPECT_NEAR(summary->buckets[0].ready, 0.25, 1e-12);
  EXPECT_NEAR(summary->buckets[1].ready, 1, 1e-12);
  EXPECT_NEAR(summary->buckets[1].reduce->median.in(kMillisecond), 4, 1e-9);
  EXPECT_EQ(summary->steps, 6);
}

TEST(SummariseProfile, GradientsAreThoseOfAllWorkersOrOfAllPasses) {
  std::vector<ProfileRecord> two = {start_of(2), step_of(0, 1), step_of(1, 1), step_of(0, 2)};
  for (std::size_t i = 1; i < two.size(); ++i) {
    two[i].iteration->local_square = static_cast<double>(i);
    two[i].iteration->mean_square = 0.5;
  }
  const auto workers = summarise_profile(two, std::nullopt);
  ASSERT_TRUE(workers.ok());
  ASSERT_EQ(workers->gradients.size(), 1U);  // Of the second, one worker's is missing.
  EXPECT_EQ(workers->gradients[0].squares, (std::vector<double>{1, 2}));
  EXPECT_EQ(workers->gradients[0].batch, kBatch);

  std::vector<ProfileRecord> one = {start_of(1), step_of(0, 1)};
  one[1].iteration->passes = 4;
  one[1].iteration->local_square = 3;
  one[1].iteration->mean_square = 1;
  const auto passes = summarise_profile(one, std::nullopt);
  ASSERT_TRUE(passes.ok());
  EXPECT_EQ(passes->gradients[0].squares, (std::vector<double>{3, 3, 3, 3}));
  EXPECT_NEAR(passes->compute.forward.median.in(kMillisecond), 2.5, 1e-9);
}

TEST(SummariseProfile, SkippedStepsAndOtherNumbersOfPassesAreLeftOut) {
  std::vector<ProfileRecord> records = {start_of(1)};
  for (int i = 0; i < 6; ++i) records.push_back(step_of(0, i));
  for (std::size_t i = 1; i < records.size(); ++i) {
    records[i].iteration->passes = 4;
    records[i].iteration->updates = 2;
  }
  records[1].iteration->skipped = true;
  records[1].iteration->update = Seconds{};
  records[2].iteration->passes = 64;  // An optimizer that was waited for in vain.
  records[2].iteration->forward = 1 * kSecond;
  const auto summary = summarise_profile(records, std::nullopt);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->passes, 4);
  EXPECT_EQ(summary->updates, 2);
  EXPECT_EQ(summary->compute.update.count, 4);
  EXPECT_NEAR(summary->compute.update.median.in(kMillisecond), 5, 1e-9);
  EXPECT_NEAR(summary->compute.forward.median.in(kMillisecond), 2.5, 1e-9);
}

TEST(SummariseProfile, NothingButWarmUpIsRefused) {
  std::vector<ProfileRecord> records = {start_of(1), step_of(0, 0), step_of(0, 1)};
  records[1].iteration->warmup = records[2].iteration->warmup = true;
  const auto summary = summarise_profile(records, std::nullopt);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().message,
            "only 2 iterations of the script were seen, all warm-up; let it train longer or lower "
            "--warmup");
}

TEST(SummariseProfile, ABatchThatNobodySawMustBeTold) {
  std::vector<ProfileRecord> records = {start_of(1), step_of(0, 0)};
  records[1].iteration->batch.reset();
  EXPECT_FALSE(summarise_profile(records, std::nullopt).ok());
  const auto told = summarise_profile(records, 16);
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->compute.batch_per_worker, 16);
  EXPECT_EQ(told->seen_batch, 0);
}

// Input of 4 ms for 8 samples is 0.5 ms each; a checkpoint holds 120 + 200 bytes.
TEST(ProfileOf, IsAValidJobWithTheBatchesInOrder) {
  const auto large = summarise_profile({start_of(1), step_of(0, 0)}, std::nullopt);
  ASSERT_TRUE(large.ok());
  ProfileSummary small = *large;
  small.compute.batch_per_worker = 2;
  const JobProfile job = profile_of("cnn", {*large, small});
  EXPECT_TRUE(validate(job).ok());
  EXPECT_EQ(job.name, "cnn");
  EXPECT_EQ(job.compute[0].batch_per_worker, 2);
  EXPECT_EQ(job.compute[1].batch_per_worker, kBatch);
  EXPECT_NEAR(job.input_per_sample->in(kMillisecond), 0.5, 1e-12);
  EXPECT_EQ(job.samples_per_epoch, 5000);
  EXPECT_EQ(job.checkpoint->bytes, 320 * kByte);
  EXPECT_FALSE(job.batch.has_value());
  EXPECT_FALSE(job.training.has_value());
  EXPECT_EQ(profile_of("cnn", {*large}).batch->reference, kBatch);
}

// The script's own batch is 2 in each of 6 passes; 6 passes for 2 steps of an optimizer
// accumulate 3.
TEST(ProfileOf, KnowsTheScriptsOwnBatchAndHowItTrains) {
  auto large = summarise_profile({start_of(1), step_of(0, 0)}, std::nullopt);
  ASSERT_TRUE(large.ok());
  large->passes = 6;
  large->updates = 2;
  large->start.training = TrainingMethod{.optimizers = {"Adam", "SGD"}};
  large->start.frozen_bytes = 20 * kByte;
  ProfileSummary small = *large;
  small.compute.batch_per_worker = 2;
  small.own = true;
  JobProfile job = profile_of("gan", {*large, small});
  EXPECT_EQ(job.batch->reference, 12);
  ASSERT_TRUE(job.training.has_value());
  EXPECT_EQ(job.training->accumulation, 3);
  EXPECT_EQ(job.training->frozen, 20 * kByte);
  EXPECT_EQ(job.training->optimizers, (std::vector<std::string>{"Adam", "SGD"}));
  const auto back = read_job(write_job(job), "job.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(write_job(back->noun), write_job(job));
  // Where no run has it, the script may have told it.
  small.own = false;
  large->start.own_batch = small.start.own_batch = 5;
  EXPECT_EQ(profile_of("gan", {*large, small}).batch->reference, 30);
}

TEST(ProfileOf, IsWrittenInRoundNumbersOfOneUnit) {
  std::vector<ProfileRecord> records = {start_of(1), step_of(0, 0)};
  records[1].iteration->forward = 12.345678 * kMillisecond;
  records[1].iteration->backward = 1.2345678 * kSecond;
  records[1].iteration->update = 123.45678 * kMicrosecond;
  records[1].iteration->input = 12.345678 * kMicrosecond;
  const auto summary = summarise_profile(records, std::nullopt);
  ASSERT_TRUE(summary.ok());
  const std::string text = write_job(profile_of("cnn", {*summary}));
  for (const char* part : {R"("median": "12.35 ms")", R"("median": "1235 ms")",
                           R"("median": "0.1235 ms")", R"("input_per_sample": "1543 ns")"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
  const auto back = read_job(text, "job.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(write_job(back->noun), text);
}

}  // namespace

}  // namespace stint
