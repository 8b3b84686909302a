#include "app/risk/simulate_plan.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "app/plan/plan_cases.h"
#include "base/file.h"
#include "load/example_job_fixture.h"
#include "optimise/answer.h"
#include "optimise/search_fixture.h"

namespace stint {
namespace {

/// Four slow.1 on spot, or some of them on demand, ten hours of work, machines that are lost by
/// themselves at a constant rate.
struct RunFixture {
  explicit RunFixture(PerSecond rate) {
    keep_types(fixture, {"slow.1"});
    fixture.predict.job.checkpoint = CheckpointSize{.bytes = 1 * kGB, .save_time = 2 * kSecond};
    // An iteration of 16 samples on each takes 50 ms.
    fixture.question.work.choices = {{.global_batch = 64, .iterations = 720'000}};
    Outlook& outlook = fixture.question.outlook;
    outlook.spot.hazard = {.typical = Hazard::constant(rate),
                           .low = Hazard::constant(rate),
                           .high = Hazard::constant(rate),
                           .origin = "here"};
    outlook.spot_start_up = {90 * kSecond, {}};
    outlook.on_demand_start_up = {60 * kSecond, {}};
  }

  Plan plan(int spot, int on_demand) const {
    const SearchFixture search(fixture.question);
    Config config;
    int kinds = 0;
    const auto add = [&](Market market, int vms) {
      if (vms == 0) return;
      config.parts[static_cast<std::size_t>(kinds++)] = {.rental = search.rental("slow.1", market),
                                                         .vms = vms};
    };
    add(Market::kSpot, spot);
    add(Market::kOnDemand, on_demand);
    config.kinds = kinds;
    return plan_of(search.evaluator, search.evaluator.with_cheapest_save(config).value());
  }

  Result<PlannedRun> run(const Plan& plan) const {
    const auto space = plan_space(fixture.question);
    return planned_run(fixture.question, *space, plan);
  }

  PolicyFixture fixture;
};

constexpr SimulateOptions kAsPredicted{.runs = 400, .seed = 1, .prediction_error = false};

TEST(SimulatePlan, WithoutLossesARunTakesWhatThePlanSays) {
  const RunFixture fixture(PerSecond{});
  for (const Plan& plan : {fixture.plan(0, 4), fixture.plan(4, 0)}) {
    const auto run = fixture.run(plan);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->region, "here");
    const PlanRuns runs = simulate_planned(*run, {}, {.runs = 3, .prediction_error = false});
    EXPECT_NEAR(runs.summary.time.mean / plan.time.mean, 1, 1e-9);
    EXPECT_NEAR(runs.summary.cost.mean / plan.cost.mean, 1, 1e-9);
    EXPECT_NEAR(runs.summary.bill.compute / plan.bill->compute, 1, 1e-9);
    EXPECT_NEAR(runs.summary.bill.set_up / plan.bill->set_up, 1, 1e-9);
    EXPECT_EQ(runs.summary.losses, 0);
    EXPECT_FALSE(runs.summary.p_deadline);
    EXPECT_FALSE(runs.p_budget);
  }
}

// Four machines that are lost once in 50 hours each: 0.8 losses in ten hours. Without a price on
// demand the gang waits 0.8 h for each on average.
TEST(SimulatePlan, IndependentLossesCostTheTimeThatThePlanExpects) {
  RunFixture fixture(0.02 / kHour);
  fixture.fixture.price("slow.1", std::nullopt, 0.4);
  const Plan plan = fixture.plan(4, 0);
  const auto run = fixture.run(plan);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_FALSE(run->setup.patience);
  const PlanRuns runs =
      simulate_planned(*run, {}, {.runs = 5000, .seed = 3, .prediction_error = false});
  EXPECT_NEAR(runs.summary.losses, 0.8, 0.05);
  EXPECT_NEAR(runs.summary.time.mean / plan.time.mean, 1, 0.02);
  const Seconds work = run->setup.job.work;
  EXPECT_NEAR((runs.summary.time.mean - work) / (plan.time.mean - work), 1, 0.12);
}

TEST(SimulatePlan, WhereOnDemandHasAPriceTheGangDoesNotWait) {
  const RunFixture fixture(0.02 / kHour);
  const Plan plan = fixture.plan(3, 1);
  const auto run = fixture.run(plan);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->setup.patience, Seconds());
  ASSERT_EQ(run->setup.groups.size(), 2U);
  EXPECT_NEAR(run->setup.groups[0].price_on_demand.in(kDollar / kHour), 1, 1e-12);
  EXPECT_EQ(run->setup.groups[1].market, Market::kOnDemand);
  const PlanRuns runs = simulate_planned(*run, {}, kAsPredicted);
  EXPECT_NEAR(runs.summary.time.mean / plan.time.mean, 1, 0.02);
}

// With n = 4 machines, half of the losses shared and b = 1, any is lost 4 · 0.5 + 0.5 · 2 · 4 / 5 =
// 2.8 times as often as one: each time 4 / 2.8 machines, of which all but one are taken along, by
// half of the losses, from three others.
TEST(SimulatePlan, MachinesAreLostTogetherAsOftenAsThePriorSays) {
  RunFixture fixture(0.02 / kHour);
  fixture.fixture.question.outlook.spot.group = {.shared = 0.5, .reach = 0.5};
  const auto run = fixture.run(fixture.plan(4, 0));
  ASSERT_TRUE(run.ok()) << run.error().message;
  const CommonShock& shock = run->setup.groups[0].pool.shock;
  EXPECT_DOUBLE_EQ(shock.share, 0.5);
  EXPECT_NEAR(shock.chance, (4 / 2.8 - 1) / 1.5, 1e-12);
}

TEST(SimulatePlan, TheErrorOfThePredictionSpreadsTheRuns) {
  const RunFixture fixture(PerSecond{});
  Plan plan = fixture.plan(0, 4);
  IterationTime& iteration = plan.prediction->iteration;
  // A deviation of 0.2: 2 · 1.2816 of them lie between the ends.
  iteration.p10 = iteration.mean * std::exp(-0.2 * 1.2815515655446);
  iteration.p90 = iteration.mean * std::exp(0.2 * 1.2815515655446);
  const auto run = fixture.run(plan);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_NEAR(run->deviation, 0.2, 1e-9);
  const PlanGoal goal{.deadline = plan.time.mean, .budget = plan.cost.mean};
  const PlanRuns runs = simulate_planned(*run, goal, {.runs = 2000});
  EXPECT_NEAR(runs.summary.time.p90 / plan.time.mean, std::exp(0.2 * 1.28), 0.03);
  EXPECT_NEAR(runs.summary.time.p50 / plan.time.mean, 1, 0.02);
  EXPECT_NEAR(*runs.summary.p_deadline, 0.5, 0.04);
  EXPECT_NEAR(*runs.p_budget, 0.5, 0.04);
}

TEST(SimulatePlan, APlanThatTheCatalogueDoesNotHaveIsBadInput) {
  const RunFixture fixture(PerSecond{});
  Plan plan = fixture.plan(4, 0);
  plan.checkpoint->place = CheckpointPlace::kAnchor;  // No machine stays.
  EXPECT_EQ(fixture.run(plan).error().kind, ErrorKind::kBadInput);
  plan = fixture.plan(4, 0);
  plan.cluster = *parse_cluster("4x slow.9:spot");
  EXPECT_EQ(fixture.run(plan).error().kind, ErrorKind::kBadInput);
  plan = fixture.plan(4, 0);
  plan.iterations.reset();
  EXPECT_EQ(fixture.run(plan).error().kind, ErrorKind::kBadInput);
}

TEST(SimulatePlan, PlaysNoMoreRunsThanTakeSeconds) {
  const auto report = simulate_plan({}, {.plan = "1", .options = {.runs = 200'001}});
  EXPECT_EQ(report.error().message, "--runs must be from 1 to 200000");
}

TEST(SimulatePlan, ReplaysATraceForOneGroupOfSpotMachines) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_simulate_plan_test";
  std::filesystem::remove_all(folder);
  const Environment environment{.state_folder = folder.string(),
                                .clock = std::make_shared<FixedClock>(20772 * kDay)};
  ASSERT_TRUE(plan_job(environment,
                       {.job = kExampleJob, .constraints = {.deadline = 24 * kHour, .vms_max = 1}})
                  .ok());
  const std::string trace = (folder / "trace.json").string();
  // The pool always has machines, so that nothing is lost.
  ASSERT_TRUE(write_file(trace, R"({"metadata": {"gap_seconds": 600}, "data": [9, 9, 9]})").ok());
  const auto report =
      simulate_plan(environment, {.plan = "1", .trace = trace, .options = kAsPredicted});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->trace, trace);
  EXPECT_EQ(report->job, "example-resnet50");
  EXPECT_EQ(report->runs.summary.losses, 0);
  EXPECT_EQ(report->runs.summary.p_deadline, 1);
  // Half of the time the pool has no machine: a run that waits is later than one that does not.
  ASSERT_TRUE(write_file(trace, R"({"metadata": {"gap_seconds": 600}, "data": [1, 0]})").ok());
  SimulateRequest request{.plan = "1", .trace = trace, .options = kAsPredicted};
  const auto replaced = simulate_plan(environment, request);
  request.wait = true;
  const auto waited = simulate_plan(environment, request);
  ASSERT_TRUE(waited.ok()) << waited.error().message;
  EXPECT_GT(waited->runs.summary.time.mean, replaced->runs.summary.time.mean);
  EXPECT_LT(waited->runs.summary.cost.mean, replaced->runs.summary.cost.mean);
  EXPECT_FALSE(simulate_plan(environment, {.plan = "99"}).ok());
  EXPECT_FALSE(simulate_plan(environment, {.plan = "1", .trace = "nowhere.json"}).ok());
}

}  // namespace
}  // namespace stint
