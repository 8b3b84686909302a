#include "plan/plan.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

PlanAnswer sample() {
  Plan plan{.cluster = *parse_cluster("8x g4dn.12xlarge:spot"), .market = PlanMarket::kSpot};
  plan.time = {.mean = 10 * kHour, .p10 = 9 * kHour, .p90 = 12 * kHour};
  plan.cost = {.mean = 100 * kDollar, .p10 = 90 * kDollar, .p90 = 120 * kDollar};
  plan.bill = Bill{.compute = 90 * kDollar, .work_redone = 10 * kDollar};
  plan.p_deadline = 0.97;
  return {.plans = {plan}, .bound = 100 * kDollar, .gap = 0.0, .excluded = {{"no price", 3}}};
}

TEST(Plan, ReadsWhatItWrites) {
  const std::string text = write_plan(sample());
  const auto loaded = read_plan(text, "plan.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_plan(loaded->noun), text);
  EXPECT_EQ(loaded->noun.excluded.at("no price"), 3);
  EXPECT_EQ(loaded->noun.plans[0].time.mean, 10 * kHour);
}

TEST(Plan, TheBillAddsUpToTheCost) {
  EXPECT_DOUBLE_EQ(total(*sample().plans[0].bill).in(kDollar), 100);
  PlanAnswer wrong = sample();
  wrong.plans[0].bill->idle = 0.01 * kDollar;
  EXPECT_EQ(validate(wrong).error().message,
            "plan: /plans/0: the parts of the bill must add up to the mean cost");
}

TEST(Plan, IntervalsStandInOrder) {
  PlanAnswer wrong = sample();
  wrong.plans[0].time.p10 = 20 * kHour;
  EXPECT_EQ(validate(wrong).error().message,
            "plan: /plans/0/time_s: p10 must not be more than p90");
  wrong = sample();
  wrong.plans[0].cost.p90 = 1 * kDollar;
  EXPECT_FALSE(validate(wrong).ok());
  wrong = sample();
  wrong.plans[0].p_deadline = 1.5;
  EXPECT_EQ(validate(wrong).error().message,
            "plan: /plans/0/p_deadline: must be from 0 to 1, not 1.5");
}

}  // namespace
}  // namespace stint
