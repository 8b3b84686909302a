#include "run/run_record.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "run/run_fixture.h"

namespace stint {
namespace {

/// Two large spot machines that take 20 samples each, three small ones on demand that take 10, and
/// one that holds checkpoints.
RunPlan mixed_plan() {
  RunPlan plan;
  plan.machines = {{.type = "local.large",
                    .count = 2,
                    .market = Market::kSpot,
                    .spot = 0.1 * kDollar / kHour,
                    .on_demand = 0.3 * kDollar / kHour,
                    .network = kGbit / kSecond,
                    .batch_per_vm = 20},
                   {.type = "local.small",
                    .count = 3,
                    .spot = 0.05 * kDollar / kHour,
                    .on_demand = 0.15 * kDollar / kHour,
                    .network = kGbit / kSecond,
                    .batch_per_vm = 10},
                   {.type = "local.cpu",
                    .spot = 0.01 * kDollar / kHour,
                    .on_demand = 0.02 * kDollar / kHour,
                    .network = kGbit / kSecond,
                    .trains = false,
                    .receives = true,
                    .batch_per_vm = 0}};
  const auto step = [](std::vector<int> machines, double seconds) {
    return RunStepTime{.machines = std::move(machines),
                       .mean = seconds * kSecond,
                       .p10 = 0.9 * seconds * kSecond,
                       .p90 = 1.2 * seconds * kSecond};
  };
  plan.steps = {step({2, 3}, 1), step({2, 0}, 2), step({1, 0}, 4)};
  return plan;
}

TEST(RunRecord, ReadsBackWhatItWrote) {
  RunRecord record = small_record();
  record.plan = mixed_plan();
  record.plan.machines[0].device = "Local-1x";
  record.plan.machines[0].speed = 2.5;
  record.compute = RunCompute::kPacedReal;
  record.deadline = 90 * kSecond;
  record.budget = 0.5 * kDollar;
  record.expected = SpotSpells{.stay = 60 * kSecond, .away = 20 * kSecond};
  record.life = 30 * kSecond;
  record.seed = 7;
  record.forecast = RunForecast{.p_deadline = 0.75, .losses = 1.5};
  const std::string text = write_run(record);
  const auto read = read_run(text, "run.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_EQ(write_run(read->noun), text);
  EXPECT_EQ(read->noun.plan.machines[0].speed, 2.5);
  EXPECT_EQ(read->noun.expected->away, 20 * kSecond);
  EXPECT_EQ(read->noun.secret, record.secret);
}

TEST(RunRecord, PlansMadeInMidRunAreDocumentsOfTheirOwn) {
  RunPlan plan = mixed_plan();
  plan.generation = 3;
  const std::string text = write_run_plan(plan);
  const auto read = read_run_plan(text, "plan-2.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(write_run_plan(read->noun), text);
  EXPECT_EQ(read->noun.generation, 3);
}

TEST(RunRecord, RefusesWhatCannotBeRun) {
  RunRecord record = small_record();
  record.command.clear();
  const auto idle = read_run(write_run(record), "run.json");
  ASSERT_FALSE(idle.ok());
  EXPECT_EQ(idle.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(idle.error().message.find("there is no command"), std::string::npos);
  EXPECT_FALSE(read_run("{", "run.json").ok());
  EXPECT_FALSE(read_run(write_run_plan(mixed_plan()), "run.json").ok());  // Another document type.
}

// 300 million decisions, and 60,000² machines: tables for them fill any memory.
TEST(RunRecord, RefusesMoreDecisionsThanCanBeWeighed) {
  RunRecord record = small_record();
  record.tick = 1 * kSecond;
  record.deadline = 10'000 * kSecond;
  EXPECT_EQ(problem(record), "");
  record.deadline = 3e8 * kSecond;
  EXPECT_EQ(
      problem(record),
      "2 machines with 3e+08 decisions until the deadline are too many to weigh; the maximum "
      "is 10000 decisions, and 1.67772e+07 for their product with the square of the machines");
  record.deadline = 100 * kSecond;
  record.plan.machines[0].count = 60'000;
  EXPECT_NE(problem(record), "");
}

TEST(RunRecord, APlanNeedsMachinesThatTrainAndStepTimesOfItsKinds) {
  EXPECT_EQ(problem(mixed_plan()), "");
  RunPlan plan = mixed_plan();
  for (RunMachines& machines : plan.machines) machines.trains = false;
  EXPECT_EQ(problem(plan), "no machine trains");
  plan = mixed_plan();
  plan.steps[1].machines = {2};
  EXPECT_EQ(problem(plan), "a step time has another number of machine kinds");
  plan.steps.clear();
  EXPECT_EQ(problem(plan), "there is no step time");
}

// Property: the whole batch is shared out, whatever the machines and whatever the batch.
TEST(RunRecord, SharesAddUpToTheBatchForEverySubset) {
  const RunPlan plan = mixed_plan();
  for (int subset = 1; subset < 32; ++subset) {
    std::vector<int> slots;
    for (int slot = 0; slot < 5; ++slot) {
      if ((subset & (1 << slot)) != 0) slots.push_back(slot);
    }
    for (const int batch : {1, 2, 7, 69, 70, 96, 1001}) {
      const std::vector<int> shares = shares_of(plan, slots, batch);
      ASSERT_EQ(shares.size(), slots.size());
      EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), 0), batch) << subset;
      double sum = 0;
      for (const int slot : slots) sum += slot < 2 ? 20 : 10;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        // Less than one sample from its exact share.
        EXPECT_NEAR(shares[i], batch * (slots[i] < 2 ? 20 : 10) / sum, 1.0) << subset;
        EXPECT_GE(shares[i], 0);
      }
    }
  }
}

// 2·20 + 3·10 = 70. Of 7 samples each large machine gets 2 and each small one 1.
TEST(RunRecord, SharesAreInProportionToThePlans) {
  const int all[] = {0, 1, 2, 3, 4};
  EXPECT_EQ(shares_of(mixed_plan(), all, 70), (std::vector<int>{20, 20, 10, 10, 10}));
  EXPECT_EQ(shares_of(mixed_plan(), all, 7), (std::vector<int>{2, 2, 1, 1, 1}));
  const int two[] = {1, 4};
  EXPECT_EQ(shares_of(mixed_plan(), two, 70), (std::vector<int>{47, 23}));  // 46.67 and 23.33.
}

// One sample for two machines: sums 0.5 and 1 are rounded to 1 and 1.
TEST(RunRecord, AShareMayBeNothing) {
  const int two[] = {0, 1};
  EXPECT_EQ(shares_of(mixed_plan(), two, 1), (std::vector<int>{1, 0}));
}

TEST(RunRecord, StepTimesArePlannedOrThoseOfTheNearestWithTheSameWork) {
  const RunPlan plan = mixed_plan();
  const int all[] = {0, 1, 2, 3, 4};
  EXPECT_EQ(step_time_of(plan, all).mean, 1 * kSecond);
  const int with_receiver[] = {0, 1, 5};  // The receiver does not count.
  EXPECT_EQ(step_time_of(plan, with_receiver).mean, 2 * kSecond);
  // Three small machines were not planned. The nearest number is two machines, which take 2 s, so
  // that three take 2 · 2/3 s.
  const int small[] = {2, 3, 4};
  const RunStepTime time = step_time_of(plan, small);
  EXPECT_EQ(time.machines, (std::vector<int>{0, 3}));
  EXPECT_NEAR(time.mean.in(kSecond), 4.0 / 3, 1e-12);
  EXPECT_NEAR(time.p10.in(kSecond), 0.9 * 4.0 / 3, 1e-12);
  EXPECT_NEAR(time.p90.in(kSecond), 1.2 * 4.0 / 3, 1e-12);
}

TEST(RunRecord, TermsSayWhatTheSupervisorHasToKnow) {
  RunRecord record = small_record();
  record.plan = mixed_plan();
  record.plan.generation = 2;
  record.deadline = 90 * kSecond;
  const RunTerms terms = terms_of(record, record.plan);
  ASSERT_EQ(terms.slots.size(), 6U);
  EXPECT_EQ(terms.slots[1].type, "local.large#2");
  EXPECT_EQ(terms.slots[1].market, Market::kSpot);
  EXPECT_EQ(terms.slots[4].on_demand, 0.15 * kDollar / kHour);
  EXPECT_TRUE(terms.slots[4].trains);
  EXPECT_FALSE(terms.slots[5].trains);
  const int large[] = {0, 1};
  EXPECT_EQ(terms.step_time(large), 2 * kSecond);
  EXPECT_EQ(terms.steps, 20);
  EXPECT_EQ(terms.save_every, 5 * kSecond);
  EXPECT_EQ(terms.deadline, 90 * kSecond);
  EXPECT_FALSE(terms.budget);
  // The interval is 0.9 to 1.2 of the mean; a seventh is allowed in any case.
  EXPECT_NEAR(terms.slower, 1.2, 1e-12);
  EXPECT_NEAR(terms.faster, 0.85, 1e-12);
  record.plan.steps[0].p90 = 1.01 * kSecond;
  record.plan.steps[0].p10 = 0.5 * kSecond;
  EXPECT_NEAR(terms_of(record, record.plan).slower, 1.15, 1e-12);
  EXPECT_NEAR(terms_of(record, record.plan).faster, 0.5, 1e-12);
}

TEST(RunRecord, ALayoutTrainsOnWholeReplicasOfTheModel) {
  RunRecord record = small_record();
  record.plan.machines[0].count = 4;
  record.layout = "dp2 tp2";
  EXPECT_EQ(problem(record), "");
  const RunTerms terms = terms_of(record, record.plan);
  EXPECT_EQ(terms.machines_multiple, 2);
  EXPECT_EQ(terms.machines_min, 2);
  EXPECT_FALSE(terms.replans);
  const std::vector<int> three = {0, 1, 3};
  EXPECT_EQ(terms.step_time(three), 1 * kSecond);  // Of two; the third is idle.
  EXPECT_FALSE(std::isfinite(terms.step_time(std::vector<int>{2}).in(kSecond)));
  record.layout = "pp8";
  EXPECT_EQ(problem(record), "the layout needs more machines than the plan has");
  record.layout = "dp2 x";
  EXPECT_NE(problem(record).find("'x' is no word of a layout"), std::string::npos);
}

TEST(RunRecord, ASaveIsOrderedAsFarAheadAsAnOrderTravels) {
  EXPECT_EQ(save_ahead(10 * kSecond), 2);
  EXPECT_EQ(save_ahead(300 * kMillisecond), 2);
  EXPECT_EQ(save_ahead(100 * kMillisecond), 4);
  EXPECT_EQ(save_ahead(40 * kMillisecond), 9);
}

TEST(RunRecord, KindsAreFoundOnlyForMachinesOfThisPlan) {
  const RunPlan plan = mixed_plan();
  const RunVm vm{.slot = 3, .type = "local.small#1"};
  ASSERT_NE(kind_of(plan, vm), nullptr);
  EXPECT_EQ(kind_of(plan, vm)->type, "local.small");
  // The machine is of a later generation.
  EXPECT_EQ(kind_of(plan, {.slot = 3, .type = "local.small#2"}), nullptr);
  EXPECT_EQ(kind_of(plan, {.slot = 3, .type = "local.large#1"}), nullptr);
  EXPECT_EQ(kind_of(plan, {.slot = 9, .type = "local.small#1"}), nullptr);
  EXPECT_EQ(kind_of(plan, {.slot = 3, .type = "local.small#1", .leaving = true}), nullptr);
  EXPECT_EQ(machine_type({.type = "local.small#12"}), "local.small");
}

TEST(RunRecordTest, NobodyPlansAgainForARunThatSharesOrSearches) {
  RunRecord record = small_record();
  EXPECT_TRUE(terms_of(record, record.plan).replans);
  record.sharing = RunSharing{.partner = "other"};
  EXPECT_FALSE(terms_of(record, record.plan).replans);
  record.sharing.reset();
  record.plan.training = RunBatch{};
  EXPECT_FALSE(terms_of(record, record.plan).replans);
}

}  // namespace
}  // namespace stint
