#include "app/plan/explain_case.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// A plan of 36,000 iterations of a second each and half an hour of set-up, at 10 dollars an hour.
Plan example() {
  Plan plan{.cluster = *parse_cluster("8x g4dn.12xlarge")};
  plan.time = {.mean = 10.5 * kHour, .p10 = 8 * kHour, .p90 = 12.5 * kHour};
  plan.cost = {.mean = 105 * kDollar, .p10 = 80 * kDollar, .p90 = 125 * kDollar};
  plan.iterations = 36000;
  plan.bill =
      Bill{.compute = 80 * kDollar, .exposed_communication = 20 * kDollar, .set_up = 5 * kDollar};
  plan.prediction = Prediction{.cluster = plan.cluster};
  plan.prediction->iteration = {.mean = 1 * kSecond, .p10 = 0.8 * kSecond, .p90 = 1.2 * kSecond};
  plan.prediction->iteration.parts = {
      .forward = 0.3 * kSecond, .backward = 0.5 * kSecond, .exposed_communication = 0.2 * kSecond};
  return plan;
}

/// Ten dollars dearer through communication, and an hour faster.
Plan second() {
  Plan plan = example();
  plan.cluster = *parse_cluster("12x g4dn.12xlarge");
  plan.time = {.mean = 9.5 * kHour, .p10 = 8 * kHour, .p90 = 11 * kHour};
  plan.cost = {.mean = 115 * kDollar, .p10 = 90 * kDollar, .p90 = 130 * kDollar};
  plan.bill->exposed_communication = 32 * kDollar;
  plan.bill->compute = 78 * kDollar;
  plan.prediction->iteration.mean = 0.9 * kSecond;
  plan.prediction->iteration.parts.backward = 0.4 * kSecond;
  return plan;
}

PlanAnswer answer_of(const std::string& objective) {
  return {.job = "mine", .goal = PlanGoal{.objective = objective}, .plans = {example(), second()}};
}

TEST(Explain, TakesTheBillApart) {
  const Explanation it = explain(answer_of("cost"), 0);
  ASSERT_EQ(it.bill.size(), 3U);
  EXPECT_EQ(it.bill[0].name, "compute");
  EXPECT_DOUBLE_EQ(it.bill[0].share, 80.0 / 105);
  EXPECT_EQ(it.bill[1].name, "communication");
  EXPECT_EQ(it.bill[2].name, "set-up");
}

// 36,000 iterations of a second are 10 hours.
TEST(Explain, TakesTheTimeApart) {
  const Explanation it = explain(answer_of("cost"), 0);
  ASSERT_EQ(it.iteration.size(), 6U);
  EXPECT_EQ(it.iteration[1].name, "backward");
  EXPECT_DOUBLE_EQ(it.iteration[1].share, 0.5);
  EXPECT_DOUBLE_EQ(it.training->in(kHour), 10);
}

// Communication costs 12 dollars more and compute 2 less: 12 of the difference of 10. Backward is
// 0.1 s shorter in 36,000 iterations: one hour of the one.
TEST(Explain, SaysWhichPartMakesTheDifferenceToTheRunnerUp) {
  const auto next = explain(answer_of("cost"), 0).runner_up;
  ASSERT_TRUE(next);
  EXPECT_EQ(next->row, 1U);
  EXPECT_DOUBLE_EQ(next->dearer.in(kDollar), 10);
  EXPECT_DOUBLE_EQ(next->longer.in(kHour), -1);
  EXPECT_EQ(next->dearer_by->name, "communication");
  EXPECT_NEAR(next->dearer_by->share, 1.2, 1e-12);
  EXPECT_EQ(next->longer_by->name, "backward");
  EXPECT_NEAR(next->longer_by->amount.in(kHour), -1, 1e-12);
  EXPECT_FALSE(explain(answer_of("cost"), 1).runner_up);
}

// Ten dollars are 10 / 105 of the plan's bill, 10 / 115 of the runner-up's, and 10 / 100 of what
// iterations cost. The time is centred at sqrt(8 * 12.5) = 10 h with a deviation of
// ln(12.5 / 8) / (2 * 1.28155) = 0.174121, so that 1.1 * 10.5 h = 11.55 h lies ln(1.155) / 0.174121
// = 0.827583 deviations above: 20.4 %.
TEST(Explain, SaysWhatWouldFlipTheOrderByCost) {
  const auto next = explain(answer_of("cost"), 0).runner_up;
  ASSERT_TRUE(next && next->flip);
  EXPECT_DOUBLE_EQ(*next->flip->price_up, 10.0 / 105);
  EXPECT_DOUBLE_EQ(*next->flip->price_down, 10.0 / 115);
  EXPECT_DOUBLE_EQ(*next->flip->time_up, 0.1);
  EXPECT_DOUBLE_EQ(next->flip->time_interval, 4.5 / 21);
  EXPECT_NEAR(next->flip->chance, 0.204, 5e-4);
}

// A runner-up that misses one time in ten is worth 115 (1 + 2 · 0.1) = 138 dollars where a miss
// costs two bills: 33 more than the plan, or 27.5 of its own dollars.
TEST(Explain, WhatFlipsTheOrderIncludesTheRiskOfAMiss) {
  PlanAnswer answer = answer_of("cost");
  answer.goal->miss_charge = 2;
  answer.plans[0].p_deadline = 1;
  answer.plans[1].p_deadline = 0.9;
  const auto flip = explain(answer, 0).runner_up->flip;
  ASSERT_TRUE(flip);
  EXPECT_NEAR(*flip->price_up, 33.0 / 105, 1e-12);
  EXPECT_NEAR(*flip->price_down, 27.5 / 115, 1e-12);
  answer.plans[0].p_deadline = 0.9;
  answer.plans[1].p_deadline = 1;
  EXPECT_FALSE(explain(answer, 0).runner_up->flip) << "the second is worth less";
}

TEST(Explain, PricesDoNotFlipAnOrderByTime) {
  PlanAnswer answer = answer_of("time");
  EXPECT_FALSE(explain(answer, 0).runner_up->flip) << "the second is faster";
  std::swap(answer.plans[0], answer.plans[1]);
  const auto flip = explain(answer, 0).runner_up->flip;
  ASSERT_TRUE(flip);
  EXPECT_FALSE(flip->price_up);
  EXPECT_DOUBLE_EQ(*flip->time_up, 1 / 9.5);
}

TEST(Explain, PointsOfAFrontHaveNoOrder) {
  EXPECT_FALSE(explain(answer_of("front"), 0).runner_up->flip);
}

TEST(Explain, NamesTheCheaperPlanOfALaterDeadline) {
  PlanAnswer answer = answer_of("cost");
  const auto slower = [](double hours, double dollars) {
    Plan plan = example();
    plan.time = {.mean = hours * kHour, .p10 = hours * kHour, .p90 = hours * kHour};
    plan.cost.mean = dollars * kDollar;
    return plan;
  };
  answer.front = {second(), example(), slower(14, 110), slower(16, 95), slower(20, 60)};
  EXPECT_FALSE(explain(answer, 0).later) << "without a deadline";
  answer.goal->deadline = 13 * kHour;
  const auto later = explain(answer, 0).later;
  ASSERT_TRUE(later);
  EXPECT_NEAR(later->deadline.in(kHour), 16, 1e-9);
  EXPECT_NEAR(later->saved.in(kDollar), 10, 1e-9);
  answer.goal->deadline = 30 * kHour;
  EXPECT_FALSE(explain(answer, 0).later);
}

TEST(Explain, WorksOnAPlanThatHoldsLittle) {
  Plan bare = example();
  bare.bill.reset();
  bare.prediction.reset();
  bare.iterations.reset();
  PlanAnswer answer{.plans = {bare, second()}};
  const Explanation it = explain(answer, 0);
  EXPECT_TRUE(it.bill.empty());
  EXPECT_TRUE(it.iteration.empty());
  EXPECT_FALSE(it.training);
  EXPECT_FALSE(it.runner_up->dearer_by);
  EXPECT_FALSE(it.runner_up->longer_by);
  EXPECT_FALSE(it.runner_up->flip);
  EXPECT_FALSE(it.later);
}

// One time in ten shorter than p10 and longer than p90, by definition.
TEST(Chances, AgreeWithTheInterval) {
  const TimeRange time{.mean = 10.5 * kHour, .p10 = 8 * kHour, .p90 = 12.5 * kHour};
  EXPECT_NEAR(chance_within(time, 8 * kHour), 0.1, 1e-9);
  EXPECT_NEAR(chance_within(time, 12.5 * kHour), 0.9, 1e-9);
  EXPECT_NEAR(limit_kept(time, 0.9).in(kHour), 12.5, 1e-9);
  EXPECT_NEAR(limit_kept(time, 0.5).in(kHour), 10, 1e-9);
  const TimeRange sure{.mean = 2 * kHour, .p10 = 2 * kHour, .p90 = 2 * kHour};
  EXPECT_EQ(chance_within(sure, 3 * kHour), 1);
  EXPECT_EQ(chance_within(sure, 1 * kHour), 0);
  EXPECT_NEAR(limit_kept(sure, 0.95).in(kHour), 2, 1e-9);
}

}  // namespace
}  // namespace stint
