#include "converge/work.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

// The best so far is 0.6 at 20; from 20 to 30 it goes to 0.8, so 0.7 is reached half way.
TEST(MomentOf, FollowsTheBestSoFar) {
  const MetricPoint run[] = {{10, 0.6}, {20, 0.4}, {30, 0.8}, {40, 0.5}};
  EXPECT_DOUBLE_EQ(moment_of(run, {.value = 0.7}).value(), 25);
}

// 40 falls to 20 between 10 and 20: 30 is half way.
TEST(MomentOf, TurnsRoundForErrorRates) {
  const MetricPoint run[] = {{10, 40}, {20, 20}};
  EXPECT_DOUBLE_EQ(moment_of(run, {.value = 30, .lower_is_better = true}).value(), 15);
}

TEST(MomentOf, TakesTheFirstPointWhenItIsGoodEnough) {
  const MetricPoint run[] = {{10, 0.6}, {20, 0.8}};
  EXPECT_DOUBLE_EQ(moment_of(run, {.value = 0.6}).value(), 10);
}

TEST(MomentOf, HasNothingForARunThatFallsShort) {
  const MetricPoint run[] = {{10, 0.6}, {20, 0.8}};
  EXPECT_FALSE(moment_of(run, {.value = 0.9}).has_value());
  EXPECT_FALSE(moment_of({}, {.value = 0.9}).has_value());
}

JobProfile job_of_epochs() {
  JobProfile job{.name = "j"};
  job.samples_per_epoch = 1000;
  job.goal = Goal{.epochs = 3};
  job.batch = BatchRange{.reference = 64};
  return job;
}

NoiseRecord record(int batch, double progress, double metric) {
  return {.batch = batch,
          .gradient_square = 2,
          .gradient_variance = 128,
          .progress = progress,
          .metric = metric};
}

TEST(Work, CountsTheIterationsOfAllEpochsAtTheReferenceBatch) {
  const auto work = work_to_goal(job_of_epochs());
  ASSERT_TRUE(work.ok());
  ASSERT_EQ(work->choices.size(), 1U);
  // 3000 samples in steps of 64: 46.875, so the last one is not full.
  EXPECT_EQ(work->choices[0].iterations, 47);
  EXPECT_EQ(work->choices[0].deviation, 0);
  ASSERT_EQ(work->assumptions.size(), 1U);
  EXPECT_NE(work->assumptions[0].find("no noise record"), std::string::npos);
}

// Φ = 64 at batch 64. From 64 the grid is 90.5, 128, 181.02 up to 200 and 45.25 down to 40.
TEST(Work, OffersAGridOfBatchesWithANoiseRecord) {
  JobProfile job = job_of_epochs();
  job.batch = BatchRange{.reference = 64, .min = 40, .max = 200};
  job.noise = {record(64, 0, 0)};
  const auto work = work_to_goal(job);
  ASSERT_TRUE(work.ok());
  std::vector<int> batches;
  for (const BatchChoice& it : work->choices) batches.push_back(it.global_batch);
  EXPECT_EQ(batches, (std::vector<int>{40, 45, 64, 91, 128, 181, 200}));
  EXPECT_EQ(work->choices[2].iterations, 47);
  EXPECT_NEAR(work->choices[2].deviation, 0, 1e-12);
  // At 128 Φ = 64 √2 = 90.5: r = 2.4142/1.7071 = √2, so 46.875/1.4142 = 33.1 steps.
  EXPECT_EQ(work->choices[4].iterations, 34);
  ASSERT_EQ(work->assumptions.size(), 1U);
  EXPECT_NE(work->assumptions[0].find("adascale rule"), std::string::npos);
  EXPECT_NE(work->assumptions[0].find("states none"), std::string::npos);
}

// Fewer steps at larger batches but never fewer samples, and less certainty further away.
TEST(Work, TradesStepsForSamples) {
  JobProfile job = job_of_epochs();
  job.goal = Goal{.samples = 1e7};
  job.learning_rate_rule = LearningRateRule::kAdaScale;
  job.batch = BatchRange{.reference = 64, .min = 8, .max = 1024};
  job.noise = {record(64, 0, 0)};
  const auto work = work_to_goal(job);
  ASSERT_TRUE(work.ok());
  for (std::size_t i = 1; i < work->choices.size(); ++i) {
    const BatchChoice& less = work->choices[i - 1];
    const BatchChoice& more = work->choices[i];
    EXPECT_LT(more.iterations, less.iterations);
    EXPECT_GT(more.iterations * more.global_batch, less.iterations * less.global_batch);
    if (less.global_batch >= 64) {
      EXPECT_GT(more.deviation, less.deviation);
    }
  }
  EXPECT_EQ(work->assumptions[0].find("states none"), std::string::npos);
}

TEST(Work, StaysWithinTheRecordedBatchesWithoutARange) {
  JobProfile job = job_of_epochs();
  job.noise = {record(64, 0, 0), record(128, 0, 0)};
  const auto work = work_to_goal(job);
  ASSERT_TRUE(work.ok());
  EXPECT_EQ(work->choices.front().global_batch, 64);
  EXPECT_EQ(work->choices.back().global_batch, 128);
}

// 0.7 lies half way from 0.6 at 6400 samples to 0.8 at 12800: 9600 samples or 150 steps of 64.
TEST(Work, FindsATargetInTheRecords) {
  JobProfile job = job_of_epochs();
  job.goal = Goal{.target = Target{.metric = "accuracy", .level = 0.7}};
  job.noise = {record(64, 12800, 0.8), record(64, 6400, 0.6)};
  const auto work = work_to_goal(job);
  ASSERT_TRUE(work.ok());
  ASSERT_EQ(work->choices.size(), 1U);
  EXPECT_EQ(work->choices[0].iterations, 150);
  EXPECT_NEAR(work->choices[0].deviation, 0.05, 1e-12);
}

TEST(Work, SaysWhenTheTargetIsNotReached) {
  JobProfile job = job_of_epochs();
  job.goal = Goal{.target = Target{.metric = "loss", .level = 0.7, .lower_is_better = true}};
  const auto unknown = work_to_goal(job);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("add noise records"), std::string::npos);
  job.noise = {record(64, 6400, 0.9), record(64, 12800, 0.8)};
  const auto work = work_to_goal(job);
  ASSERT_FALSE(work.ok());
  EXPECT_EQ(work.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(work.error().message.find("reaches its target of loss 0.7"), std::string::npos);
}

TEST(Work, LeavesOutRecordsWithoutAGradient) {
  JobProfile job = job_of_epochs();
  job.noise = {{.batch = 64, .gradient_square = 0, .gradient_variance = 1}};
  const auto work = work_to_goal(job);
  ASSERT_TRUE(work.ok());
  EXPECT_EQ(work->choices.size(), 1U);
}

TEST(Work, SaysWhatTheProfileLacks) {
  JobProfile job = job_of_epochs();
  job.batch.reset();
  EXPECT_NE(work_to_goal(job).error().message.find("no reference batch"), std::string::npos);
  job.goal.reset();
  EXPECT_NE(work_to_goal(job).error().message.find("no goal"), std::string::npos);
  job.goal = Goal{.epochs = 2};
  job.samples_per_epoch.reset();
  EXPECT_NE(work_to_goal(job).error().message.find("samples_per_epoch"), std::string::npos);
}

// 1000 steps of 64 samples are 2000 of 32; 128 is nearer to 100 than 64 is, so 500 · 128 / 100.
TEST(ChoiceNear, KeepsTheSamplesOfTheNearestBatch) {
  const Work work{.choices = {{.global_batch = 64, .iterations = 1000, .deviation = 0.1},
                              {.global_batch = 128, .iterations = 500, .deviation = 0.2}}};
  EXPECT_EQ(choice_near(work, 64).iterations, 1000);
  EXPECT_EQ(choice_near(work, 32).iterations, 2000);
  EXPECT_EQ(choice_near(work, 32).deviation, 0.1);
  EXPECT_EQ(choice_near(work, 100).iterations, 640);
  EXPECT_EQ(choice_near(work, 100).global_batch, 100);
}

// All is known at 64 only: 32 times that is 2048, and a 32nd of it 2. From 2 to 2048 are 20 steps
// of √2. Planning a range to a million took 28 s.
TEST(Work, LeavesOutBatchesFarFromAllThatAreKnown) {
  JobProfile job = job_of_epochs();
  job.noise = {record(64, 1000, 0.5)};
  job.batch = BatchRange{.reference = 64, .min = 1, .max = 1'000'000};
  const auto wide = work_to_goal(job);
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->choices.size(), 21U);
  EXPECT_EQ(wide->choices.front().global_batch, 2);
  EXPECT_EQ(wide->choices.back().global_batch, 2048);
  EXPECT_EQ(
      wide->assumptions.front(),
      "Batches below 2 and above 2048 are left out: they are too far from the recorded ones.");
  job.batch = BatchRange{.reference = 64, .min = 2, .max = 2048};
  EXPECT_EQ(work_to_goal(job)->choices.size(), 21U);
  EXPECT_EQ(work_to_goal(job)->assumptions.size(), 1U);
}

TEST(Work, HasAnEnd) {
  JobProfile job = job_of_epochs();
  job.goal = Goal{.epochs = 1e300};
  EXPECT_EQ(work_to_goal(job).error().message,
            "the goal of the job j is 1e+303 samples, and at most 1e+15 can be planned; lower it");
}

}  // namespace

}  // namespace stint
