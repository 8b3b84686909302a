#include "app/share/interleave_inputs.h"

#include <gtest/gtest.h>

#include "predict/law.h"

namespace stint {
namespace {

InterleaveRequest request(std::vector<std::string> jobs) {
  return {.jobs = std::move(jobs), .cluster = "4x local.medium", .batch_per_worker = {32}};
}

std::string error_of(const InterleaveRequest& asked) {
  const auto inputs = load_interleave_inputs({}, asked);
  EXPECT_FALSE(inputs.ok());
  return inputs.ok() ? "" : inputs.error().message;
}

// One epoch of 50,000 samples in batches of 4 · 32: 391 iterations.
TEST(InterleaveInputs, PredictsEachJobToItsGoal) {
  const auto inputs = load_interleave_inputs({}, request({"paced-20mb", "paced-5mb"}));
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  ASSERT_EQ(inputs->jobs.size(), 2U);
  const JobAlone& first = inputs->jobs[0];
  EXPECT_EQ(first.job.name, "paced-20mb");
  EXPECT_EQ(first.job.iterations, 391);
  EXPECT_EQ(first.job.alone, first.prediction.iteration.mean);
  EXPECT_NEAR(first.job.alone.in(kSecond), total(step_parts(first.job.setup)).in(kSecond), 1e-9);
  EXPECT_GT(first.job.deviation, 0);
  EXPECT_TRUE(inputs->shared.rate.has_value());
  EXPECT_EQ(inputs->shared.memory.size(), 1U);
}

TEST(InterleaveInputs, NumbersJobsOfTheSameName) {
  const auto inputs = load_interleave_inputs({}, request({"paced-5mb", "paced-5mb"}));
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->jobs[0].job.name, "paced-5mb");
  EXPECT_EQ(inputs->jobs[1].job.name, "paced-5mb (2)");
}

TEST(InterleaveInputs, TakesOneValueForAllOrOneForEach) {
  InterleaveRequest asked = request({"paced-5mb", "paced-20mb"});
  asked.batch_per_worker = {32, 64};
  asked.iterations = {100};
  asked.deadlines = {1 * kHour, 2 * kHour};
  const auto inputs = load_interleave_inputs({}, asked);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->jobs[0].prediction.global_batch, 128);
  EXPECT_EQ(inputs->jobs[1].prediction.global_batch, 256);
  EXPECT_EQ(inputs->jobs[1].job.iterations, 100);
  EXPECT_EQ(inputs->jobs[1].job.deadline, 2 * kHour);
  asked.iterations = {1, 2, 3};
  EXPECT_EQ(error_of(asked),
            "--iterations has 3 values for 2 jobs; give one for all or one for each");
}

TEST(InterleaveInputs, SaysThatSamplesAreKeptAtABatchThatIsNotKnown) {
  InterleaveRequest asked = request({"paced-5mb", "paced-5mb"});
  asked.batch_per_worker = {64};
  const auto inputs = load_interleave_inputs({}, asked);
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->jobs[0].job.iterations, 196);  // 391 · 128 / 256, rounded up.
  bool told = false;
  for (const std::string& it : inputs->jobs[0].assumptions) {
    told = told || it.find("as many samples at a global batch of 256") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST(InterleaveInputs, NeedsTwoJobs) {
  EXPECT_EQ(error_of(request({"paced-5mb"})).substr(0, 35), "one job has nobody to share with: g");
}

TEST(InterleaveInputs, RefusesAJobThatDoesNotFitByItself) {
  InterleaveRequest asked{.jobs = {"example-resnet50", "example-resnet50"},
                          .cluster = "2x g4dn.12xlarge",
                          .batch_per_worker = {4096}};
  const auto inputs = load_interleave_inputs({}, asked);
  ASSERT_FALSE(inputs.ok());
  EXPECT_EQ(inputs.error().kind, ErrorKind::kInfeasible);
}

TEST(InterleaveInputs, PassesOnWhatIsWrongWithJobsAndClusters) {
  EXPECT_NE(error_of(request({"paced-5mb", "no-such-job"})).find("no-such-job"), std::string::npos);
  InterleaveRequest asked = request({"paced-5mb", "paced-5mb"});
  asked.cluster = "2x no.such.vm";
  EXPECT_NE(error_of(asked).find("no.such.vm"), std::string::npos);
}

}  // namespace
}  // namespace stint
