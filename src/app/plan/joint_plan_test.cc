#include "app/plan/joint_plan.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace stint {
namespace {

Environment environment() { return {.clock = std::make_shared<SystemClock>()}; }

/// Paced jobs on the emulated cloud, which has few VM types.
PlanTogetherRequest request(std::vector<std::string> jobs) {
  return {.jobs = std::move(jobs),
          .constraints = {.markets = {Market::kOnDemand}, .providers = {"local"}, .vms_max = 8}};
}

Result<PlanTogetherOutcome> planned(const PlanTogetherRequest& asked) {
  return plan_together(environment(), asked);
}

TEST(PlanTogether, IsNeverDearerThanSeparatePlans) {
  const auto outcome = planned(request({"paced-20mb", "paced-55mb"}));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const TogetherAnswer& it = outcome->answer;
  ASSERT_EQ(it.jobs.size(), 2U);
  EXPECT_NEAR(it.separate.in(kDollar), (it.jobs[0].cost.mean + it.jobs[1].cost.mean).in(kDollar),
              1e-9);
  EXPECT_LE(it.cost, it.separate);
  EXPECT_EQ(it.alone.size() + 2 * it.pairs.size(), 2U);
  EXPECT_TRUE(validate(it).ok());
}

// Deadlines that one VM cannot keep make clusters, on which jobs wait for the network.
TEST(PlanTogether, SharesWhereDeadlinesMakeClusters) {
  PlanTogetherRequest asked = request({"paced-110mb", "paced-110mb"});
  const auto alone = planned(asked);
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  asked.deadlines = {0.6 * alone->answer.jobs[0].time.mean};
  const auto outcome = planned(asked);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const TogetherAnswer& it = outcome->answer;
  EXPECT_LE(it.cost, it.separate);
  for (const PlannedPair& pair : it.pairs) {
    EXPECT_LT(pair.cost, pair.separate);
    for (const SharingMember& member : pair.sharing.choice.members) {
      ASSERT_TRUE(member.p_deadline.has_value());
      EXPECT_GE(*member.p_deadline, 0.95);
    }
  }
}

TEST(PlanTogether, NumbersJobsOfTheSameName) {
  const auto outcome = planned(request({"paced-5mb", "paced-5mb"}));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->answer.jobs[1].name, "paced-5mb (2)");
}

TEST(PlanTogether, WrongRequestsAreErrors) {
  EXPECT_EQ(planned(request({"paced-5mb"})).error().kind, ErrorKind::kUsage);
  PlanTogetherRequest asked = request({"paced-5mb", "paced-20mb"});
  asked.deadlines = {1 * kHour, 1 * kHour, 1 * kHour};
  EXPECT_EQ(planned(asked).error().kind, ErrorKind::kUsage);
  asked.deadlines = {1 * kSecond};
  EXPECT_EQ(planned(asked).error().kind, ErrorKind::kInfeasible);
}

TEST(PlanTogether, TakesNoMoreJobsThanItCanPair) {
  const std::vector<std::string> jobs(25, "paced-5mb");
  EXPECT_EQ(planned(request(jobs)).error().message,
            "--job takes at most 24 jobs, not 25; plan them in groups");
}

TEST(PlanTogether, TellsHowFarItIs) {
  PlanTogetherRequest asked = request({"paced-5mb", "paced-20mb"});
  std::vector<double> told;
  asked.progress = [&](double done) { told.push_back(done); };
  ASSERT_TRUE(planned(asked).ok());
  EXPECT_EQ(told, (std::vector<double>{0, 0.25, 0.5, 0.75}));
}

}  // namespace
}  // namespace stint
