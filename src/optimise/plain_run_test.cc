#include "optimise/plain_run.h"

#include <gtest/gtest.h>

#include "optimise/policy_fixture.h"

namespace stint {
namespace {

/// The first rental of the type.
int rental_of(const Space& space, const std::string& name) {
  for (int i = 0; i < static_cast<int>(space.rentals.size()); ++i) {
    if (space.machine_of(i).type->name == name) return i;
  }
  CHECK(false);
  return -1;
}

std::optional<Found> run_of(const PolicyFixture& fixture, const std::string& name, int vms) {
  const auto space = plan_space(fixture.question);
  CHECK(space.ok());
  const Evaluator evaluator(fixture.question, *space);
  return plain_run(evaluator, {.parts = {Part{.rental = rental_of(*space, name), .vms = vms}}});
}

// 64 samples on 2 VMs of 4 T4s: 8 each, 3 · 8 + 2 = 26 ms.
TEST(PlainRun, UsesAllAccelerators) {
  const PolicyFixture fixture;
  const auto run = run_of(fixture, "slow.4", 2);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->config.parts[0].workers_per_vm, 4);
  EXPECT_EQ(run->config.accumulation, 1);
  EXPECT_NEAR(run->outcome.iteration.in(kMillisecond), 26, 0.1);
}

// 6 samples are not enough for 8 workers, but for 2 VMs with 2.
TEST(PlainRun, UsesFewerWorkersForASmallBatch) {
  PolicyFixture fixture;
  fixture.question.work.choices = {{.global_batch = 6, .iterations = 10}};
  const auto run = run_of(fixture, "slow.4", 2);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->config.parts[0].workers_per_vm, 2);
  fixture.question.work.choices[0].global_batch = 1;
  EXPECT_FALSE(run_of(fixture, "slow.4", 2).has_value());
}

// 1 GB and 100 MB for each sample: in 6 GB 64 samples do not fit, 32 do.
TEST(PlainRun, TakesTheFewestMicroStepsThatFit) {
  PolicyFixture fixture;
  fixture.predict.catalog.gpus[0].memory = 6 * kGB;
  const auto run = run_of(fixture, "slow.1", 1);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->config.accumulation, 2);
}

TEST(PlainRun, FindsTheReferenceBatch) {
  PolicyFixture fixture;
  fixture.question.work.choices = {{.global_batch = 32}, {.global_batch = 64}};
  EXPECT_EQ(reference_choice(fixture.question), 1);
  fixture.predict.job.batch->reference = 40;
  EXPECT_EQ(reference_choice(fixture.question), 0);
  fixture.predict.job.batch.reset();
  EXPECT_EQ(reference_choice(fixture.question), 0);
}

}  // namespace
}  // namespace stint
