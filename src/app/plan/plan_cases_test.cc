#include "app/plan/plan_cases.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "load/example_job_fixture.h"
#include "load/plan_files.h"
#include "optimise/answer.h"

namespace stint {
namespace {

/// `count` points, the one of number i with i + 1 VMs, twice the time and half the cost of the one
/// before; `knee` is the number of the knee.
std::vector<Plan> front_of(int count, int knee) {
  std::vector<Plan> front;
  for (int i = 0; i < count; ++i) {
    Plan plan{.cluster = *parse_cluster("g4dn.xlarge")};
    plan.cluster.groups[0].count = i + 1;
    plan.time.mean = std::exp2(i) * kHour;
    plan.cost.mean = std::exp2(-i) * kDollar;
    if (i == knee) mark_knee(plan);
    front.push_back(plan);
  }
  return front;
}

std::vector<int> vms_of(const std::vector<Plan>& plans) {
  std::vector<int> vms;
  for (const Plan& plan : plans) vms.push_back(plan.cluster.groups[0].count);
  return vms;
}

TEST(FrontRows, AShortFrontIsShownWhole) {
  const auto rows = front_rows(front_of(3, 1), 10);
  EXPECT_EQ(vms_of(rows), (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(is_knee(rows[0]));
  EXPECT_TRUE(is_knee(rows[1]));
}

// Points are equally far apart. First the knee and the ends, then what is farthest from them all.
TEST(FrontRows, ALongFrontIsSpreadEvenlyAndKeepsItsKnee) {
  EXPECT_EQ(vms_of(front_rows(front_of(9, 4), 5)), (std::vector<int>{1, 3, 5, 7, 9}));
  EXPECT_EQ(vms_of(front_rows(front_of(9, 1), 3)), (std::vector<int>{1, 2, 9}));
  EXPECT_EQ(vms_of(front_rows(front_of(9, 5), 1)), (std::vector<int>{6}));
  EXPECT_EQ(vms_of(front_rows(front_of(9, 5), 2)), (std::vector<int>{1, 6}));
}

TEST(FrontRows, TheMarkStandsBeforeANote) {
  Plan plan;
  plan.note = "over EFA";
  mark_knee(plan);
  EXPECT_EQ(plan.note, "knee; over EFA");
  mark_knee(plan);
  EXPECT_EQ(plan.note, "knee; over EFA");
}

Environment machine(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_plan_cases_test" / name;
  std::filesystem::remove_all(folder);
  return {.data_folder = (folder / "data").string(),
          .state_folder = (folder / "state").string(),
          .clock = std::make_shared<FixedClock>(20772 * kDay)};
}

Plan plan_of(const std::string& cluster, Seconds time, Dollars cost) {
  Plan plan{.cluster = *parse_cluster(cluster)};
  plan.time = {.mean = time, .p10 = 0.9 * time, .p90 = 1.1 * time};
  plan.cost = {.mean = cost, .p10 = 0.9 * cost, .p90 = 1.1 * cost};
  return plan;
}

/// An optimiser that knows three plans on a front, the second of which is its knee, and remembers
/// what it was asked.
struct FakeOptimiser {
  Objective objective = Objective::kCost;
  std::vector<BatchChoice> choices;
  std::string law = {};
  Outlook outlook = {};

  Result<PlanAnswer> operator()(const PlanQuestion& question) {
    objective = question.objective;
    choices = question.work.choices;
    law = question.context.law.name;
    outlook = question.outlook;
    PlanAnswer answer{.job = question.context.job.name, .goal = goal_of(question)};
    answer.front = {plan_of("4x p3.2xlarge", 1 * kHour, 90 * kDollar),
                    plan_of("2x p3.2xlarge", 2 * kHour, 30 * kDollar),
                    plan_of("p3.2xlarge", 8 * kHour, 25 * kDollar)};
    answer.plans = {answer.front[1], answer.front[0]};
    return answer;
  }
};

Result<PlanOutcome> asked(FakeOptimiser& fake, const Environment& environment,
                          const PlanRequest& request) {
  return plan_job(environment, request, [&](const PlanQuestion& question, const Clock& /*clock*/) {
    return fake(question);
  });
}

TEST(PlanJob, AsksForTheWorkOfTheJobAndKeepsTheAnswer) {
  FakeOptimiser fake;
  const Environment environment = machine("keeps");
  const auto outcome =
      asked(fake, environment, {.job = kExampleJob, .constraints = {.deadline = 24 * kHour}});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(fake.choices.empty());
  EXPECT_EQ(outcome->answer.job, "example-resnet50");
  EXPECT_EQ(outcome->answer.goal->objective, "cost");
  EXPECT_EQ(outcome->answer.goal->deadline, 24 * kHour);
  EXPECT_TRUE(outcome->warnings.empty());
  const auto picked = load_plan(environment, "2");
  ASSERT_TRUE(picked.ok()) << picked.error().message;
  EXPECT_EQ(to_text(picked->answer.plans[1].cluster), "4x p3.2xlarge");
}

TEST(PlanJob, TheObjectiveFollowsFromTheConstraints) {
  FakeOptimiser fake;
  const auto objective = [&](const Constraints& constraints, std::optional<Objective> said = {}) {
    CHECK(asked(fake, machine("objective"),
                {.job = kExampleJob, .constraints = constraints, .objective = said})
              .ok());
    return fake.objective;
  };
  EXPECT_EQ(objective({}), Objective::kFront);
  EXPECT_EQ(objective({.rate_max = 3 * kDollar / kHour}), Objective::kFront);
  EXPECT_EQ(objective({.budget = 100 * kDollar}), Objective::kTime);
  EXPECT_EQ(objective({.deadline = 1 * kHour, .budget = 100 * kDollar}), Objective::kCost);
  EXPECT_EQ(objective({.deadline = 1 * kHour}, Objective::kTime), Objective::kTime);
}

TEST(PlanJob, TheFrontIsShownWithItsKnee) {
  FakeOptimiser fake;
  PlanRequest request{.job = kExampleJob};
  const auto front = asked(fake, machine("front"), request);
  ASSERT_TRUE(front.ok());
  ASSERT_EQ(front->answer.plans.size(), 3U);
  EXPECT_EQ(to_text(front->answer.plans[0].cluster), "4x p3.2xlarge");
  EXPECT_TRUE(is_knee(front->answer.plans[1]));
  request.objective = Objective::kKnee;
  const auto knee = asked(fake, machine("knee"), request);
  ASSERT_TRUE(knee.ok());
  EXPECT_TRUE(is_knee(knee->answer.plans[0]));
  EXPECT_EQ(to_text(knee->answer.plans[1].cluster), "4x p3.2xlarge");
  EXPECT_EQ(to_text(knee->answer.plans[2].cluster), "1x p3.2xlarge");
}

TEST(PlanJob, TheCaseOfAProviderDoesNotMatter) {
  for (const char* provider : {"local", "LOCAL", "Local"}) {
    FakeOptimiser fake;
    const auto outcome = asked(fake, machine("case"),
                               {.job = "paced-20mb", .constraints = {.providers = {provider}}});
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(fake.law, "local") << provider;
    EXPECT_EQ(fake.outlook.on_demand_start_up.mean, 5 * kSecond) << provider;
  }
}

TEST(PlanJob, AProviderThatIsNotInTheCatalogueIsRefused) {
  FakeOptimiser fake;
  const auto outcome = asked(fake, machine("provider"),
                             {.job = "paced-20mb", .constraints = {.providers = {"devices"}}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kUsage);
  EXPECT_NE(outcome.error().message.find("aws, azure, gcp, local"), std::string::npos)
      << outcome.error().message;
}

TEST(PlanJob, WritesTheAnswerWhereItIsTold) {
  FakeOptimiser fake;
  const Environment environment = machine("save");
  PlanRequest request{.job = kExampleJob, .save = *environment.data_folder + "/plan.json"};
  EXPECT_FALSE(asked(fake, environment, request).ok());  // Without the folder.
  EXPECT_FALSE(std::filesystem::exists(*environment.data_folder));
  std::filesystem::create_directories(*environment.data_folder);
  ASSERT_TRUE(asked(fake, environment, request).ok());
  EXPECT_TRUE(load_plan(environment, request.save).ok());
  request.save = "/dev/null/plan.json";
  EXPECT_FALSE(asked(fake, environment, request).ok());
}

TEST(PlanJob, AnAnswerThatCannotBeKeptIsAWarning) {
  FakeOptimiser fake;
  Environment environment = machine("not_kept");
  environment.state_folder = "/dev/null";
  const auto outcome = asked(fake, environment, {.job = kExampleJob});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  ASSERT_EQ(outcome->warnings.size(), 1U);
  EXPECT_TRUE(outcome->warnings[0].starts_with("the answer was not stored for 'stint explain': "));
}

TEST(PlanJob, RefusesWhatContradictsItself) {
  FakeOptimiser fake;
  const auto problem = [&](const PlanRequest& request) {
    const auto outcome = asked(fake, machine("contradicts"), request);
    CHECK(!outcome.ok());
    EXPECT_EQ(outcome.error().kind, ErrorKind::kUsage) << outcome.error().message;
    return outcome.error().message;
  };
  const std::string job = kExampleJob;
  EXPECT_EQ(problem({.job = job, .policy = "luck"}),
            "there is no policy 'luck'; the policies are cheapest-first, fastest-first, deepvm, "
            "scavenger, single-on-demand");
  EXPECT_NE(problem({.job = job, .objective = Objective::kTime, .policy = "deepvm"})
                .find("exclude each other"),
            std::string::npos);
  EXPECT_NE(problem({.job = job, .policy = "scavenger"}).find("--vm"), std::string::npos);
  EXPECT_NE(problem({.job = job, .policy = "scavenger", .vm = "g4dn.xlrge"}).find("g4dn.xlarge"),
            std::string::npos);
  EXPECT_NE(problem({.job = job, .vm = "g4dn.xlarge"}).find("scavenger"), std::string::npos);
  EXPECT_NE(problem({.job = job, .rows = 0}).find("--rows"), std::string::npos);
  EXPECT_NE(problem({.job = job, .constraints = {.confidence = 1.5}}).find("--confidence"),
            std::string::npos);
  EXPECT_NE(problem({.job = job, .constraints = {.providers = {"aws"}, .regions = {"us-central1"}}})
                .find("no machine"),
            std::string::npos);
}

// Of the shipped jobs, imagenet is one that has only its sizes.
TEST(PlanJob, AJobWithoutMeasuredTimesSaysWhatToDo) {
  FakeOptimiser fake;
  const auto outcome = asked(fake, machine("times"), {.job = "imagenet"});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(
      outcome.error().message,
      "the job imagenet has no measured times to plan with; measure iterations of one worker "
      "and add them to \"compute\" in its profile, or plan a known model, for example --model "
      "resnet50 ('stint models list' shows all)");
}

// The clock of the tests stands at day 20772 since 1970, 15 November 2026; spot prices of July 2025
// are 502 days old then, and more uncertain than on-demand prices of July 2026.
TEST(PlanJob, PricesAgeByTheClock) {
  FakeOptimiser fake;
  ASSERT_TRUE(asked(fake, machine("prices"), {.job = kExampleJob}).ok());
  ASSERT_TRUE(fake.outlook.prices.has_value());
  const PriceOutlook& prices = *fake.outlook.prices;
  EXPECT_EQ(to_text(prices.today), "2026-11-15");
  EXPECT_GT(prices.deviation(Market::kSpot, {2025, 7}), 0.2);
  EXPECT_LT(prices.deviation(Market::kSpot, {2025, 7}), 0.4);
  EXPECT_LT(prices.deviation(Market::kOnDemand, {2026, 7, 20}), 0.05);
  EXPECT_EQ(prices.deviation(Market::kSpot, {2026, 11, 15}), 0);
}

TEST(PlanJob, AJobWithoutAGoalIsBadInput) {
  FakeOptimiser fake;
  const Environment environment = machine("goal");
  const std::string path = *environment.data_folder + "/job.json";
  ASSERT_TRUE(write_file(path, R"({"schema": "stint.job/1", "name": "mine",
                                   "gradient_bytes": "4 MB", "compute": [
                                     {"device": "T4", "batch_per_worker": 8,
                                      "forward": {"median": "5 ms"}, "backward": {"median": "9 ms"},
                                      "update": {"median": "1 ms"}}]})")
                  .ok());
  const auto outcome = asked(fake, environment, {.job = path});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(outcome.error().message.find("no goal"), std::string::npos);
}

}  // namespace

}  // namespace stint
