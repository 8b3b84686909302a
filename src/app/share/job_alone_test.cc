#include "app/share/job_alone.h"

#include <gtest/gtest.h>

#include "load/example_job_fixture.h"

namespace stint {
namespace {

PredictInputs inputs_of(const std::string& job) {
  auto inputs = load_predict_inputs({}, job, "priors");
  EXPECT_TRUE(inputs.ok());
  return std::move(*inputs);
}

TEST(JobAlone, HasItsMemoryAndItsIterations) {
  const PredictInputs inputs = inputs_of(kExampleJob);
  const auto cluster = parse_cluster("2x g4dn.12xlarge");
  const auto alone =
      job_alone(inputs, *cluster, {.options = {.batch_per_worker = 32}, .deadline = 5 * kHour});
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_EQ(alone->job.name, "example-resnet50");
  EXPECT_EQ(alone->job.deadline, 5 * kHour);
  EXPECT_GT(alone->job.iterations, 1);
  EXPECT_EQ(alone->job.alone, alone->prediction.iteration.mean);
  ASSERT_EQ(alone->job.memory.size(), 1U);
  EXPECT_TRUE(alone->job.memory[0].has_value());
  ASSERT_EQ(alone->accelerators.size(), 1U);
  EXPECT_NEAR(alone->accelerators[0]->in(kGB), 16, 1);
}

TEST(JobAlone, TakesIterationsThatAreGiven) {
  const PredictInputs inputs = inputs_of(kExampleJob);
  const auto alone = job_alone(inputs, *parse_cluster("2x g4dn.12xlarge"),
                               {.options = {.batch_per_worker = 32}, .iterations = 7});
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->job.iterations, 7);
  EXPECT_EQ(alone->job.iterations_deviation, 0);
}

TEST(JobAlone, WithoutAGoalNeedsIterations) {
  PredictInputs inputs = inputs_of(kExampleJob);
  inputs.job.goal.reset();
  const auto alone = job_alone(inputs, *parse_cluster("2x g4dn.12xlarge"), {});
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().message.find("--iterations"), std::string::npos);
}

TEST(MemoryAssumption, NamesJobsThatAreNotKnown) {
  EXPECT_FALSE(memory_assumption({}).has_value());
  EXPECT_EQ(*memory_assumption({"a"}),
            "The peak memory of a is unknown: it is assumed to fit next to other jobs.");
  EXPECT_EQ(*memory_assumption({"a", "b"}),
            "The peak memory of a, b is unknown: they are assumed to fit next to other jobs.");
}

}  // namespace
}  // namespace stint
