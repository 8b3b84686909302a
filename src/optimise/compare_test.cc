#include "optimise/compare.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "optimise/optimise.h"
#include "optimise/optimise_fixture.h"
#include "optimise/policy_fixture.h"

namespace stint {
namespace {

Result<Plan> plan_for(const PolicyFixture& fixture, const std::string& cluster) {
  const auto parsed = parse_cluster(cluster);
  CHECK(parsed.ok());
  return plan_on(fixture.question, *parsed);
}

std::string complaint(const PolicyFixture& fixture, const std::string& cluster, ErrorKind kind) {
  const auto plan = plan_for(fixture, cluster);
  EXPECT_FALSE(plan.ok());
  if (plan.ok()) return "";
  EXPECT_EQ(plan.error().kind, kind);
  return plan.error().message;
}

// 64 samples on 8 T4s: 3 · 8 + 2 = 26 ms, 36 000 times: 0.26 h, on 2 VMs at $3.90/h: $2.03.
TEST(PlanOn, PredictsTheClusterThatIsGiven) {
  const PolicyFixture fixture;
  const auto plan = plan_for(fixture, "2x slow.4");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_NEAR(plan->time.mean.in(kHour), 0.26, 1e-3);
  EXPECT_NEAR(plan->cost.mean.in(kDollar), 2.028, 1e-2);
  EXPECT_EQ(to_text(plan->cluster), "2x slow.4");
  EXPECT_FALSE(plan->p_deadline.has_value());
}

TEST(PlanOn, StatesTheProbabilityOfTheDeadline) {
  PolicyFixture fixture;
  fixture.question.constraints.deadline = 0.2 * kHour;
  const auto plan = plan_for(fixture, "2x slow.4");
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(plan->p_deadline.has_value());
  EXPECT_LT(*plan->p_deadline, 0.5);
}

// Eight VMs where four are allowed, and on demand where only spot is.
TEST(PlanOn, LimitsOnWhatMayBeRentedDoNotApply) {
  PolicyFixture fixture;
  fixture.question.constraints.markets = {Market::kSpot};
  fixture.question.constraints.quotas = {{.name = "slow.1", .vcpus = 4}};
  fixture.question.constraints.rate_max = 0.1 * kDollar / kHour;
  EXPECT_TRUE(plan_for(fixture, "8x slow.1").ok());
  EXPECT_TRUE(plan_for(fixture, "2x slow.1:spot").ok());
  EXPECT_TRUE(plan_for(fixture, "2x slow.1 + 1x fast.1").ok());
}

TEST(PlanOn, TakesTheCheapestRegionOrTheOneThatIsNamed) {
  PolicyFixture fixture;
  Offer there = fixture.type("slow.1").offers.front();
  there.region = "there";
  there.on_demand->rate = 0.5 * kDollar / kHour;
  fixture.type("slow.1").offers.push_back(there);
  const auto cheapest = plan_for(fixture, "1x slow.1");
  const auto named = plan_for(fixture, "1x x/here/slow.1");
  ASSERT_TRUE(cheapest.ok());
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_NEAR(named->cost.mean / cheapest->cost.mean, 2, 1e-6);
}

TEST(PlanOn, SaysWhyThereIsNone) {
  PolicyFixture fixture;
  EXPECT_EQ(complaint(fixture, "1x slow.4:spot", ErrorKind::kInfeasible),
            "1x slow.4:spot has no plan: no price on its market in one region");
  EXPECT_EQ(complaint(fixture, "1x cpu.1", ErrorKind::kInfeasible),
            "1x cpu.1 has no plan: no accelerator");
  EXPECT_EQ(complaint(fixture, "65x slow.1", ErrorKind::kInfeasible),
            "65x slow.1 has no plan: no batch of the job can be shared out over its accelerators "
            "within their memory");
  fixture.predict.catalog.gpus[0].memory = 0.5 * kGB;
  EXPECT_EQ(complaint(fixture, "1x slow.1", ErrorKind::kInfeasible),
            "1x slow.1 has no plan: job does not fit into memory");
  EXPECT_NE(complaint(fixture, "1x slwo.1", ErrorKind::kUsage).find("slow.1"), std::string::npos);
  EXPECT_NE(complaint(fixture, "1x slow.1 + 1x slow.4 + 1x fast.1", ErrorKind::kUsage)
                .find("at most two"),
            std::string::npos);
}

// The optimiser may use fewer workers or more micro-steps on the same VMs, so that its plan may be
// better, but never worse; mostly they are the same.
TEST(PlanOn, NeverBeatsTheOptimiserOnTheSameVms) {
  int plans = 0;
  int equal = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomCase world(seed);
    PlanQuestion question = world.question();
    question.objective = Objective::kCost;
    question.constraints = {.vms_max = question.constraints.vms_max};
    const auto answer = optimise(question, FixedClock(Seconds{}));
    if (!answer.ok() || answer->plans.empty()) continue;
    const Plan& best = answer->plans.front();
    const auto same = plan_on(question, best.cluster);
    if (!same.ok()) continue;  // A worker without a sample, where the optimiser uses fewer.
    const double ratio = same->cost.mean / best.cost.mean;
    EXPECT_GE(ratio, 1 - 1e-9) << "seed " << seed;
    ++plans;
    equal += ratio < 1 + 1e-9 ? 1 : 0;
  }
  EXPECT_GE(plans, 30);
  EXPECT_GE(equal, plans / 2);
}

}  // namespace
}  // namespace stint
