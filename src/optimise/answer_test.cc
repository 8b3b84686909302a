#include "optimise/answer.h"

#include <cmath>
#include <gtest/gtest.h>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

Config vms_of(const SearchFixture& search, const char* type, int vms,
              Market market = Market::kOnDemand) {
  return {.parts = {Part{search.rental(type, market), vms, 1}}};
}

std::string text_of(const PlanQuestion& question) {
  const SearchFixture search(question);
  return to_text(cluster_of(search.evaluator, vms_of(search, "slow.1", 2, Market::kSpot)));
}

TEST(ClusterOf, NamesRegionsOnlyWhereTheyAreLimited) {
  PolicyFixture fixture;
  EXPECT_EQ(text_of(fixture.question), "2x slow.1:spot");
  fixture.question.constraints.regions = {"here"};
  EXPECT_EQ(text_of(fixture.question), "2x x/here/slow.1:spot");
}

TEST(ClusterOf, NamesTheProviderWhereSeveralHaveTheName) {
  PolicyFixture fixture;
  fixture.type("other.1").name = "slow.1";
  EXPECT_EQ(text_of(fixture.question), "2x x/slow.1:spot");
}

TEST(ClusterOf, HasAGroupForEachKind) {
  const PolicyFixture fixture;
  const SearchFixture search(fixture.question);
  const Config config{.parts = {Part{search.rental("slow.4"), 2, 4},
                                Part{search.rental("fast.1", Market::kSpot), 1, 1}},
                      .kinds = 2};
  EXPECT_EQ(to_text(cluster_of(search.evaluator, config)), "2x slow.4 + 1x fast.1:spot");
  const Plan plan = plan_of(search.evaluator, search.found(config));
  EXPECT_EQ(plan.market, PlanMarket::kMixed);
  ASSERT_EQ(plan.layout->setups.size(), 2U);
  EXPECT_EQ(plan.layout->setups[0].workers_per_vm, 4);
  EXPECT_EQ(plan.layout->setups[1].workers_per_vm, 1);
}

Plan plan_of_one(const PlanQuestion& question, const char* type) {
  const SearchFixture search(question);
  return plan_of(search.evaluator, search.found(vms_of(search, type, 1)));
}

// One slow.1 takes 1.94 h at 1 USD/h. Of the logarithm, an iteration's deviation is 0.03 and that
// of their number 0.04: 0.05 together. With a limit of 2.1 times one deviation above the mean the
// normal distribution says 98.2136 %.
TEST(PlanOf, MatchesHandComputedCase) {
  PolicyFixture fixture;
  fixture.question.work.choices[0].deviation = 0.04;
  fixture.question.constraints.deadline = std::exp(2.1 * 0.05) * 1.94 * kHour;
  fixture.question.constraints.budget = 1.94 * kDollar;
  const Plan plan = plan_of_one(fixture.question, "slow.1");
  EXPECT_EQ(plan.market, PlanMarket::kOnDemand);
  EXPECT_NEAR(plan.time.mean.in(kHour), 1.94, 1e-6);
  EXPECT_NEAR(plan.time.p90.in(kHour), 1.94 * std::exp(1.28155 * 0.05), 1e-5);
  EXPECT_NEAR(plan.cost.mean.in(kDollar), 1.94, 1e-6);
  EXPECT_NEAR(plan.cost.p90.in(kDollar), 1.94 * std::exp(1.28155 * 0.05), 1e-5);
  EXPECT_NEAR(*plan.p_deadline, 0.982136, 1e-5);
  EXPECT_NEAR(*plan.p_budget, 0.5, 1e-5);
  EXPECT_EQ(plan.global_batch, 64);
  EXPECT_EQ(plan.iterations, 36'000);
  EXPECT_FALSE(plan.note);
  EXPECT_FALSE(plan_of_one(PolicyFixture().question, "slow.1").p_deadline);
}

// 100 MB of gradients from 64 samples in 16 micro-steps: what communication cannot hide shows.
TEST(PlanOf, BillAddsUp) {
  PolicyFixture fixture;
  fixture.predict.job.gradient_bytes = 100 * kMB;
  fixture.predict.law.fabric.straggling = 0.1;
  const SearchFixture search(fixture.question);
  const Plan plan = plan_of(search.evaluator, search.found(vms_of(search, "slow.1", 4)));
  EXPECT_GT(plan.bill->exposed_communication, Dollars{});
  EXPECT_GT(plan.bill->idle, Dollars{});
  EXPECT_NEAR(total(*plan.bill) / plan.cost.mean, 1, 1e-12);
  const IterationParts& parts = plan.prediction->iteration.parts;
  EXPECT_NEAR(plan.bill->exposed_communication / plan.cost.mean,
              parts.exposed_communication / total(parts), 1e-12);
}

TEST(PlanOf, NotesWhatIsNotMeasured) {
  PolicyFixture fixture;
  EXPECT_EQ(plan_of_one(fixture.question, "fast.1").note, "Fast not measured, from T4");
  for (ComputeSample& sample : fixture.predict.job.compute) sample.peak_memory.reset();
  EXPECT_EQ(plan_of_one(fixture.question, "slow.1").note, "memory unknown");
  fixture.question.work.choices[0].global_batch = 129;  // Up to 64 was measured.
  EXPECT_EQ(plan_of_one(fixture.question, "slow.1").note, "batch beyond measured; memory unknown");
}

TEST(GoalOf, RepeatsTheQuestion) {
  PolicyFixture fixture;
  fixture.question.objective = Objective::kKnee;
  fixture.question.constraints.deadline = 2 * kHour;
  fixture.question.constraints.budget = 3 * kDollar;
  fixture.question.constraints.rate_max = 4 * kDollar / kHour;
  fixture.question.constraints.confidence = 0.8;
  const PlanGoal goal = goal_of(fixture.question);
  EXPECT_EQ(goal.objective, "knee");
  EXPECT_EQ(goal.deadline, 2 * kHour);
  EXPECT_EQ(goal.budget, 3 * kDollar);
  EXPECT_EQ(goal.rate_max, 4 * kDollar / kHour);
  EXPECT_EQ(goal.confidence, 0.8);
}

TEST(AssumptionsOf, SpeakOfSpotOnlyWhereItIsUsed) {
  PolicyFixture fixture;
  fixture.question.work.assumptions = {"Work is work."};
  const std::string prior =
      "Nothing was fitted for these networks: their constants are priors (calibration round).";
  const std::string lost =
      "Spot interruption rates are the catalogue's bands, and otherwise the prior; 'stint risk "
      "survive' shows both.";
  const std::string replaced =
      "An interrupted spot machine is replaced on-demand while there is no spot capacity, which is "
      "assumed 5 times in ten, for 1.6 h on average.";
  const std::string stays =
      "The machines that are left go on training meanwhile, where each holds the whole state.";
  const std::string sharded =
      "Checkpoints are asynchronous and sharded over the workers, as stint.Job writes them; a "
      "script that writes them from rank 0 stalls longer.";
  const std::string rest = "Traffic out of the cloud is not included.";
  fixture.predict.job.checkpoint = CheckpointSize{.bytes = 1 * kMB};
  const SearchFixture search(fixture.question);
  std::vector<Plan> plans = {{.market = PlanMarket::kOnDemand}};
  EXPECT_EQ(assumptions_of(search.evaluator, plans),
            (std::vector<std::string>{"Work is work.", prior, rest}));
  plans.push_back({.market = PlanMarket::kMixed});
  fixture.predict.law.fitted = true;
  EXPECT_EQ(assumptions_of(search.evaluator, plans),
            (std::vector<std::string>{"Work is work.", lost, replaced, stays, sharded, rest}));
}

// Iterations deviate by 0.4 and the price by 0.3: 0.09 of 0.16 + 0.09 are 36 % of the variance.
TEST(PlanOf, SaysWhatShareOfItsIntervalIsPrice) {
  PolicyFixture fixture;
  for (auto& row : fixture.predict.law.covariance) row.assign(row.size(), 0);
  fixture.predict.law.job_deviation = {};
  fixture.predict.law.noise_floor = 0;
  fixture.predict.law.noise_exposed = 0;
  fixture.question.work.choices[0].deviation = 0.4;
  const auto plan = [&] {
    const SearchFixture search(fixture.question);
    return plan_of(search.evaluator, search.found(vms_of(search, "slow.1", 1)));
  };
  EXPECT_FALSE(plan().prices.has_value());
  fixture.age_prices(0, 0.3);
  const Plan aged = plan();
  ASSERT_TRUE(aged.prices.has_value());
  EXPECT_NEAR(aged.prices->share, 0.36, 1e-3);
  EXPECT_NEAR(aged.prices->deviation, 0.3, 1e-9);
  EXPECT_EQ(aged.prices->oldest_days, 100);
  EXPECT_NEAR(std::log(aged.cost.p90 / aged.cost.mean), 1.2815516 * 0.5, 1e-3);
}

}  // namespace
}  // namespace stint
