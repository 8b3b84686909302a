#include "app/risk/simulate_plan.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "app/plan/plan_cases.h"
#include "app/risk/run_model_fixture.h"
#include "base/file.h"
#include "load/example_job_fixture.h"
#include "optimise/answer.h"

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

constexpr SimulateOptions kAsPredicted{.runs = 60, .seed = 1, .prediction_error = false};

TEST(SimulatePlan, WithoutLossesARunTakesWhatThePlanSays) {
  const RunFixture fixture(PerSecond{});
  for (const Plan& plan : {fixture.plan(0, 4), fixture.plan(4, 0)}) {
    const auto run = fixture.run(plan);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->region, "here");
    const RunSummary runs = simulate_planned(*run, {}, {.runs = 3, .prediction_error = false});
    EXPECT_NEAR(runs.time.mean / plan.time.mean, 1, 1e-9);
    EXPECT_NEAR(runs.cost.mean / plan.cost.mean, 1, 1e-9);
    EXPECT_NEAR(runs.bill.compute / plan.bill->compute, 1, 1e-9);
    EXPECT_NEAR(runs.bill.set_up / plan.bill->set_up, 1, 1e-9);
    EXPECT_EQ(runs.losses, 0);
    EXPECT_FALSE(runs.p_deadline);
    EXPECT_FALSE(runs.p_budget);
  }
}

// Four machines that are lost once in 50 hours each: 0.8 losses in ten hours, a bit less because
// places stay empty for 0.8 h on average. Without a price on demand the three others go on.
TEST(SimulatePlan, IndependentLossesCostTheTimeThatThePlanExpects) {
  RunFixture fixture(0.02 / kHour);
  fixture.fixture.price("slow.1", std::nullopt, 0.4);
  const Plan plan = fixture.plan(4, 0);
  const auto run = fixture.run(plan);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_FALSE(run->terms.fills_up);
  const RunSummary runs =
      simulate_planned(*run, {}, {.runs = 300, .seed = 3, .prediction_error = false});
  EXPECT_NEAR(runs.losses, 0.79, 0.15);
  EXPECT_NEAR(runs.time.mean / plan.time.mean, 1, 0.005);
  const Seconds work = 10 * kHour;
  EXPECT_NEAR((runs.time.mean - work) / (plan.time.mean - work), 1, 0.2);
}

TEST(SimulatePlan, WhereOnDemandHasAPriceTheGangDoesNotWait) {
  const RunFixture fixture(0.02 / kHour);
  const Plan plan = fixture.plan(3, 1);
  const auto run = fixture.run(plan);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_TRUE(run->terms.fills_up);
  ASSERT_EQ(run->terms.slots.size(), 4U);
  EXPECT_NEAR(run->terms.slots[0].on_demand.in(kDollar / kHour), 1, 1e-12);
  EXPECT_EQ(run->terms.slots[3].market, Market::kOnDemand);
  EXPECT_EQ(run->world.pool_of_slot, (std::vector<std::optional<int>>{0, 0, 0, std::nullopt}));
  const RunSummary runs = simulate_planned(*run, {}, kAsPredicted);
  EXPECT_NEAR(runs.time.mean / plan.time.mean, 1, 0.01);
  EXPECT_NEAR(runs.cost.mean / plan.cost.mean, 1, 0.01);
}

// One machine that is lost every two hours on average: without a deadline every other run takes
// longer than what a deadline leaves. With it, the run leaves spot before it is too late; the
// supervisor counts no stalls of checkpoints to come, which may take the last minute.
TEST(SimulatePlan, TheDeadlineIsKept) {
  const RunFixture fixture(0.5 / kHour);
  const Plan plan = fixture.plan(1, 0);
  const auto run = fixture.run(plan);
  ASSERT_TRUE(run.ok()) << run.error().message;
  const RunSummary free = simulate_planned(*run, {}, kAsPredicted);
  const RunSummary kept = simulate_planned(*run, {.deadline = free.time.p50}, kAsPredicted);
  EXPECT_GE(*kept.p_deadline, 0.93);
  EXPECT_GT(kept.cost.mean, free.cost.mean);
}

// A fifth of such cases as `run_model_bench` prints.
TEST(SimulatePlan, PlansSayWhatTheirRehearsalsShow) {
  int cases = 0;
  for (const ModelPool& pool : model_pools()) {
    for (const int machines : {1, 2, 8}) {
      for (const Bytes checkpoint : {1 * kGB, 30 * kGB}) {
        if (++cases % 5 != 0) continue;
        SCOPED_TRACE(pool.name + ", " + std::to_string(machines) + " machines");
        const auto it = compare(pool, {machines, 10 * kHour, checkpoint},
                                {.runs = 40, .seed = 5, .prediction_error = false});
        ASSERT_TRUE(it);
        EXPECT_TRUE(it->close()) << it->time_error() << " " << it->cost_error();
      }
    }
  }
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
  const RunSummary runs = simulate_planned(*run, goal, {.runs = 400});
  EXPECT_NEAR(runs.time.p90 / plan.time.mean, std::exp(0.2 * 1.28), 0.07);
  EXPECT_NEAR(runs.time.p50 / plan.time.mean, 1, 0.04);
  EXPECT_NEAR(*runs.p_deadline, 0.5, 0.08);
  EXPECT_NEAR(*runs.p_budget, 0.5, 0.08);
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
  EXPECT_EQ(report->runs.losses, 0);
  EXPECT_EQ(report->runs.p_deadline, 1);
  // Half of the time the pool has no machine: a run that waits is later than one that does not.
  ASSERT_TRUE(write_file(trace, R"({"metadata": {"gap_seconds": 600}, "data": [1, 0]})").ok());
  SimulateRequest request{.plan = "1", .trace = trace, .options = kAsPredicted};
  const auto replaced = simulate_plan(environment, request);
  request.wait = true;
  const auto waited = simulate_plan(environment, request);
  ASSERT_TRUE(waited.ok()) << waited.error().message;
  EXPECT_GT(waited->runs.time.mean, replaced->runs.time.mean);
  EXPECT_LT(waited->runs.cost.mean, replaced->runs.cost.mean);
  EXPECT_FALSE(simulate_plan(environment, {.plan = "99"}).ok());
  EXPECT_FALSE(simulate_plan(environment, {.plan = "1", .trace = "nowhere.json"}).ok());
}

}  // namespace
}  // namespace stint
