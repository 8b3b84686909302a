#include "optimise/policies.h"

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

constexpr DollarsPerSecond kHourly = kDollar / kHour;

const FixedClock kClock{0 * kSecond};

PlanAnswer answered(const PolicyFixture& fixture, const PolicyRequest& request) {
  const auto answer = plan_by_policy(fixture.question, request, kClock);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_TRUE(validate(*answer).ok());
  return *answer;
}

/// The cluster of the one plan.
std::string rented(const PolicyFixture& fixture, const PolicyRequest& request) {
  const PlanAnswer answer = answered(fixture, request);
  return answer.plans.size() == 1 ? to_text(answer.plans[0].cluster) : "";
}

constexpr Policy kCheapest = Policy::kCheapestFirst;
constexpr Policy kFastest = Policy::kFastestFirst;
constexpr Policy kSingle = Policy::kSingleOnDemand;

TEST(Policies, SayWhoseChoiceItIs) {
  const PolicyFixture fixture;
  const PlanAnswer answer = answered(fixture, {kCheapest});
  EXPECT_EQ(answer.goal->policy, "cheapest-first");
  ASSERT_EQ(answer.passes.size(), 1U);
  EXPECT_EQ(answer.passes[0].name, "cheapest-first");
  EXPECT_EQ(answer.passes[0].kept, 1);
  EXPECT_EQ(answer.passes[0].evaluated, 4);
  EXPECT_EQ(answer.excluded.at("no accelerator"), 1);
  EXPECT_FALSE(answer.assumptions.empty());
  EXPECT_FALSE(answer.nearest.has_value());
}

// The lowest price is 0.4 USD/h, of slow.1 on spot; without a budget as many as are allowed.
TEST(CheapestFirst, RentsAsManyAsItMay) {
  PolicyFixture fixture;
  EXPECT_EQ(rented(fixture, {kCheapest}), "4x slow.1:spot");
  fixture.question.constraints.markets = {Market::kOnDemand};
  EXPECT_EQ(rented(fixture, {kCheapest}), "4x slow.1");
  fixture.question.constraints.rate_max = 3.5 * kHourly;
  EXPECT_EQ(rented(fixture, {kCheapest}), "3x slow.1");
  fixture.question.constraints.quotas = {{.name = "slow", .market = std::nullopt, .vcpus = 8}};
  EXPECT_EQ(rented(fixture, {kCheapest}), "2x slow.1");
}

// On demand at 1 USD/h, n VMs take 0.03 · ceil(64/n) + 0.02 h, and n times that in USD: 1.94, 1.96,
// 2.04 and 2.00 for n = 1 … 4. So 1.97 USD pay for 2, 2.01 USD for 4 though not for 3.
TEST(CheapestFirst, RentsTheMostThatTheBudgetPays) {
  PolicyFixture fixture;
  fixture.question.constraints.markets = {Market::kOnDemand};
  fixture.question.constraints.budget = 1.97 * kDollar;
  EXPECT_EQ(rented(fixture, {kCheapest}), "2x slow.1");
  fixture.question.constraints.budget = 2.01 * kDollar;
  EXPECT_EQ(rented(fixture, {kCheapest}), "4x slow.1");
}

TEST(CheapestFirst, TakesTheFasterOfEqualPrices) {
  PolicyFixture fixture;
  fixture.price("fast.1", 3.0, 0.4);
  EXPECT_EQ(rented(fixture, {kCheapest}), "4x fast.1:spot");
}

// One VM costs 0.4 · 1.94 = 0.776 USD; less is not to be had.
TEST(CheapestFirst, ShowsOneVmWhereTheBudgetPaysForNone) {
  PolicyFixture fixture;
  fixture.question.constraints.budget = 0.5 * kDollar;
  const PlanAnswer answer = answered(fixture, {kCheapest});
  EXPECT_TRUE(answer.plans.empty());
  ASSERT_TRUE(answer.nearest.has_value());
  EXPECT_EQ(answer.nearest->binding,
            "The policy cheapest-first finds no plan within the budget of 0.50 USD.");
  EXPECT_EQ(to_text(answer.nearest->plan.cluster), "1x slow.1:spot");
  EXPECT_NEAR(answer.nearest->plan.cost.mean.in(kDollar), 0.776, 0.001);
  EXPECT_GT(answer.nearest->dearer->in(kDollar), 0.276);
  EXPECT_EQ(answer.passes[0].kept, 0);
}

TEST(CheapestFirst, NamesTheHourlyBudgetAndQuotasThatLeaveNothing) {
  PolicyFixture fixture;
  fixture.question.constraints.rate_max = 0.1 * kHourly;
  EXPECT_EQ(answered(fixture, {kCheapest}).nearest->binding,
            "The policy cheapest-first finds no plan within 0.1 USD/h.");
  fixture.question.constraints.rate_max.reset();
  for (const char* family : {"slow", "fast", "dark"}) {
    fixture.question.constraints.quotas.push_back({family, std::nullopt, 3});
  }
  EXPECT_EQ(answered(fixture, {kCheapest}).nearest->binding,
            "The policy cheapest-first finds no plan within the quota slow=3 and the quota fast=3 "
            "and the quota dark=3.");
}

// Alone slow.4 takes 3 · 16 + 2 = 50 ms, fast.1 half of 194 ms; with one worker in slow.4 it is the
// other way round.
TEST(FastestFirst, RentsTheVmThatIsFastestAlone) {
  PolicyFixture fixture;
  EXPECT_EQ(rented(fixture, {kFastest}), "4x slow.4");
  fixture.type("slow.4").accelerator->count = 1;
  EXPECT_EQ(rented(fixture, {kFastest}), "4x fast.1:spot");
}

// To finish, slow.1 costs 1.94, fast.1 3 · 0.97 = 2.91 and slow.4 3.9 · 0.5 = 1.95 USD.
TEST(SingleOnDemand, RentsTheCheapestInTime) {
  PolicyFixture fixture;
  EXPECT_EQ(rented(fixture, {kSingle}), "1x slow.1");
  fixture.question.constraints.deadline = 1 * kHour;
  EXPECT_EQ(rented(fixture, {kSingle}), "1x slow.4");
}

TEST(SingleOnDemand, RentsTheFastestWhereNoneIsInTime) {
  PolicyFixture fixture;
  fixture.question.constraints.deadline = 0.1 * kHour;
  const PlanAnswer answer = answered(fixture, {kSingle});
  ASSERT_EQ(answer.plans.size(), 1U);
  EXPECT_EQ(to_text(answer.plans[0].cluster), "1x slow.4");
  EXPECT_LT(*answer.plans[0].p_deadline, 0.01);
}

TEST(SingleOnDemand, CannotDoWithSpotVmsAlone) {
  PolicyFixture fixture;
  fixture.question.constraints.markets = {Market::kSpot};
  const auto answer = plan_by_policy(fixture.question, {kSingle}, kClock);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kInfeasible);
  EXPECT_NE(answer.error().message.find("single-on-demand"), std::string::npos);
}

const PolicyRequest kScavenger{Policy::kScavenger, "slow.1"};

/// Batches of 64 in 36 000 and of 128 in 27 000 iterations, on slow.1 for 0.4 USD/h. Of n VMs they
/// take 1.94, 0.98, 0.68, 0.50 and 2.895, 1.455, 0.9825, 0.735 h. Half an hour with four costs 0.80
/// USD, 1.94 h with one 0.776, 0.98 h with two 0.784, 0.68 h with three 0.816: the front is 4, 2, 1
/// VMs with the batch of 64, as each larger batch is slower and dearer.
void add_batch(PolicyFixture& fixture) {
  fixture.question.work.choices.push_back({.global_batch = 128, .iterations = 27'000});
}

// Scaled to 0 … 1, the point of two VMs is (0.33, 0.33), well below the line.
TEST(Scavenger, TakesTheKneeWithoutLimits) {
  PolicyFixture fixture;
  add_batch(fixture);
  const PlanAnswer answer = answered(fixture, kScavenger);
  ASSERT_EQ(answer.plans.size(), 1U);
  EXPECT_EQ(to_text(answer.plans[0].cluster), "2x slow.1:spot");
  EXPECT_EQ(answer.plans[0].global_batch, 64);
  EXPECT_EQ(answer.passes[0].evaluated, 8);
}

TEST(Scavenger, TakesTheEndOfTheTradeOffThatTheObjectiveAsksFor) {
  PolicyFixture fixture;
  add_batch(fixture);
  fixture.question.constraints.deadline = 1 * kHour;
  EXPECT_EQ(rented(fixture, kScavenger), "2x slow.1:spot");
  fixture.question.constraints.deadline = 0.7 * kHour;
  EXPECT_EQ(rented(fixture, kScavenger), "4x slow.1:spot");
  fixture.question.constraints.deadline.reset();
  fixture.question.objective = Objective::kTime;
  fixture.question.constraints.budget = 0.79 * kDollar;
  EXPECT_EQ(rented(fixture, kScavenger), "2x slow.1:spot");
}

// A batch of 128 in 10 000 iterations of 386 ms takes 1.07 h on one VM and costs 0.429 USD; on
// four, in 98 ms, 0.436 USD.
TEST(Scavenger, ChoosesTheBatchToo) {
  PolicyFixture fixture;
  fixture.question.work.choices.push_back({.global_batch = 128, .iterations = 10'000});
  fixture.question.constraints.deadline = 10 * kHour;
  const PlanAnswer answer = answered(fixture, kScavenger);
  EXPECT_EQ(to_text(answer.plans[0].cluster), "1x slow.1:spot");
  EXPECT_EQ(answer.plans[0].global_batch, 128);
}

TEST(Scavenger, NamesTheLimitsThatItCannotKeepTogether) {
  PolicyFixture fixture;
  fixture.question.constraints.deadline = 1 * kHour;
  fixture.question.constraints.budget = 0.78 * kDollar;
  const PlanAnswer answer = answered(fixture, kScavenger);
  ASSERT_TRUE(answer.nearest.has_value());
  EXPECT_EQ(
      answer.nearest->binding,
      "The policy scavenger finds no plan within the deadline of 1 h and the budget of 0.78 USD.");
  EXPECT_EQ(to_text(answer.nearest->plan.cluster), "1x slow.1:spot");
  EXPECT_GT(answer.nearest->late->in(kHour), 0.94);
}

TEST(Scavenger, RefusesVmTypesThatItCannotRent) {
  const PolicyFixture fixture;
  for (const auto& vm : {std::optional<std::string>{}, std::optional<std::string>{"slow.9"},
                         std::optional<std::string>{"cpu.1"}, std::optional<std::string>{"y/"}}) {
    const auto answer = plan_by_policy(fixture.question, {Policy::kScavenger, vm}, kClock);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kUsage);
    EXPECT_NE(answer.error().message.find("--vm"), std::string::npos) << answer.error().message;
  }
}

TEST(DeepVmByPolicy, SaysThatItsFiguresAreFitted) {
  PolicyFixture fixture;
  const PlanAnswer answer = answered(fixture, {Policy::kDeepVm});
  ASSERT_EQ(answer.plans.size(), 1U);
  EXPECT_EQ(to_text(answer.plans[0].cluster), "4x slow.1:spot");
  EXPECT_NE(answer.assumptions.back().find("fitted"), std::string::npos);
  fixture.type("slow.1").deepvm = DeepVmFigures{.a = 0.1, .b = 10, .c = 5, .flops = 1};
  EXPECT_EQ(answered(fixture, {Policy::kDeepVm}).assumptions.size() + 1, answer.assumptions.size());
}

// The least is one spot VM and one receiver, 0.6 USD/h.
TEST(DeepVmByPolicy, ShowsOneWorkerWhereTheHourlyBudgetPaysForNone) {
  PolicyFixture fixture;
  fixture.question.constraints.rate_max = 0.5 * kHourly;
  const PlanAnswer answer = answered(fixture, {Policy::kDeepVm});
  ASSERT_TRUE(answer.nearest.has_value());
  EXPECT_EQ(answer.nearest->binding, "The policy deepvm finds no plan within 0.5 USD/h.");
  EXPECT_EQ(to_text(answer.nearest->plan.cluster), "1x slow.1:spot");
  EXPECT_EQ(answer.nearest->plan.checkpoint->receivers, 1);
  fixture.question.constraints.rate_max.reset();
  fixture.question.constraints.quotas = {{.name = "slow", .vcpus = 4},
                                         {.name = "fast", .vcpus = 4}};
  EXPECT_EQ(answered(fixture, {Policy::kDeepVm}).nearest->binding,
            "The policy deepvm finds no plan within the quota slow=4 and the quota fast=4.");
}

}  // namespace

}  // namespace stint
