#include "load/plan_files.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

Environment machine(const char* name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_plan_files_test" / name;
  std::filesystem::remove_all(folder);
  return {.data_folder = {}, .state_folder = folder.string()};
}

PlanAnswer two_plans() {
  Plan plan{.cluster = *parse_cluster("8x g4dn.12xlarge")};
  plan.time = {.mean = 10 * kHour, .p10 = 9 * kHour, .p90 = 12 * kHour};
  plan.cost = {.mean = 100 * kDollar, .p10 = 90 * kDollar, .p90 = 120 * kDollar};
  Plan other = plan;
  other.cluster = *parse_cluster("4x p3.2xlarge");
  return {.plans = {plan, other}};
}

TEST(PlanFiles, ARowOfTheLastAnswerIsFound) {
  const Environment environment = machine("row");
  ASSERT_TRUE(keep_plan(environment, two_plans()).ok());
  const auto picked = load_plan(environment, "2");
  ASSERT_TRUE(picked.ok()) << picked.error().message;
  EXPECT_EQ(picked->row, 1U);
  EXPECT_EQ(to_text(picked->answer.plans[picked->row].cluster), "4x p3.2xlarge");
}

TEST(PlanFiles, TheNextAnswerReplacesTheLast) {
  const Environment environment = machine("replaces");
  ASSERT_TRUE(keep_plan(environment, two_plans()).ok());
  PlanAnswer one = two_plans();
  one.plans.pop_back();
  ASSERT_TRUE(keep_plan(environment, one).ok());
  const auto picked = load_plan(environment, "2");
  ASSERT_FALSE(picked.ok());
  EXPECT_EQ(picked.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(picked.error().message, "--plan 2: the last answer has 1 plan, counted from 1");
  EXPECT_FALSE(load_plan(environment, "0").ok());
  EXPECT_FALSE(load_plan(environment, "-1").ok());
}

TEST(PlanFiles, AFileIsReadByItsPath) {
  const Environment environment = machine("file");
  const std::string path = *environment.state_folder + "/mine.json";
  ASSERT_TRUE(write_file(path, write_plan(two_plans())).ok());
  const auto picked = load_plan(environment, path);
  ASSERT_TRUE(picked.ok()) << picked.error().message;
  EXPECT_EQ(picked->row, 0U);
  EXPECT_EQ(load_plan(environment, path + "x").error().kind, ErrorKind::kBadInput);
}

TEST(PlanFiles, SaysWhatToDoWithoutAPlan) {
  const auto none = load_plan(machine("none"), "1");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "there is no plan yet; create one with 'stint plan --job FILE'");
  const auto homeless = load_plan({}, "1");
  ASSERT_FALSE(homeless.ok());
  EXPECT_NE(homeless.error().message.find("XDG_STATE_HOME"), std::string::npos);
  EXPECT_FALSE(keep_plan({}, two_plans()).ok());
}

TEST(PlanFiles, AnAnswerWithoutPlansSaysWhy) {
  const Environment environment = machine("infeasible");
  PlanAnswer answer = two_plans();
  answer.nearest = NearestPlan{.binding = "No plan is done in 1 h.", .plan = answer.plans[0]};
  answer.plans.clear();
  ASSERT_TRUE(keep_plan(environment, answer).ok());
  const auto picked = load_plan(environment, "1");
  ASSERT_FALSE(picked.ok());
  EXPECT_EQ(picked.error().kind, ErrorKind::kInfeasible);
  EXPECT_EQ(
      picked.error().message,
      "the last answer has no plan. No plan is done in 1 h. Relax a constraint and plan again.");
}

TEST(PlanFiles, ABrokenLastAnswerIsBadInput) {
  const Environment environment = machine("broken");
  ASSERT_TRUE(write_file(*environment.state_folder + "/last-plan.json", "{").ok());
  EXPECT_EQ(load_plan(environment, "1").error().kind, ErrorKind::kBadInput);
}

JobProfile small_job() { return {.name = "mine", .gradient_bytes = 4 * kMB}; }

TEST(PlannedJob, ComesFromTheFileThatThePlanNames) {
  const Environment environment = machine("planned_job");
  const std::string path = *environment.state_folder + "/mine.json";
  ASSERT_TRUE(write_file(path, write_job(small_job())).ok());
  PlanAnswer answer{.job = "mine", .profile = path};
  const auto job = load_planned_job(answer);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->noun.name, "mine");
  answer.job = "other";
  EXPECT_EQ(load_planned_job(answer).error().message,
            "the plan is for the job other, but " + path +
                " is now the profile of mine; give its path with --job FILE");
  answer = {.job = "mine", .profile = path + ".old"};
  const auto moved = load_planned_job(answer);
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(moved.error().message, "the profile of the job mine has moved: " + path +
                                       ".old is not there any more; give its path with --job FILE");
}

TEST(PlannedJob, IsShippedWhereThePlanNamesNoFile) {
  EXPECT_TRUE(load_planned_job({.job = "paced-5mb"}).ok());
  EXPECT_EQ(
      load_planned_job({.job = "my-net"}).error().message,
      "the plan is for the job my-net, whose profile is not shipped; give it with --job FILE");
  EXPECT_FALSE(load_planned_job({}).ok());
}

TEST(PlannedJob, ThatCameFromNoFileIsKept) {
  const Environment environment = machine("kept_job");
  const auto path = keep_job(environment, small_job());
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_TRUE(load_planned_job({.job = "mine", .profile = *path}).ok());
  EXPECT_FALSE(keep_job({}, small_job()).ok());
}

}  // namespace
}  // namespace stint
