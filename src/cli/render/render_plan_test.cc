#include "cli/render/render_plan.h"

#include <gtest/gtest.h>

#include "app/plan/plan_cases.h"
#include "base/csv.h"
#include "base/text.h"

namespace stint::cli {
namespace {

constexpr Terminal kPipe{.width = 0};

Plan plan_of(const std::string& cluster, double hours, double dollars) {
  Plan plan{.cluster = *parse_cluster(cluster)};
  plan.time = {.mean = hours * kHour, .p10 = 0.9 * hours * kHour, .p90 = 1.1 * hours * kHour};
  plan.cost = {
      .mean = dollars * kDollar, .p10 = 0.9 * dollars * kDollar, .p90 = 1.1 * dollars * kDollar};
  plan.global_batch = 1024;
  return plan;
}

/// Two plans for a deadline of 12 hours.
PlanOutcome outcome() {
  Plan best = plan_of("8x g4dn.12xlarge:spot", 11.2, 101);
  best.market = PlanMarket::kSpot;
  best.p_deadline = 0.97;
  best.p_best = 0.62;
  best.layout = Layout{.cluster = best.cluster, .setups = {{}}, .accumulation = 4};
  best.prediction = Prediction{.cluster = best.cluster};
  best.prediction->groups = {
      {.vm = "g4dn.12xlarge", .device = "T4", .vms = 8, .workers_per_vm = 4}};
  best.prediction->price = PriceUsed{
      .rate = 9 * kDollar / kHour, .region = "us-east-1", .date = {.year = 2025, .month = 7}};
  Plan second = plan_of("4x p3.8xlarge", 9, 120);
  second.p_deadline = 0.998;
  second.note = "over EFA";
  PlanAnswer answer{.job = "mine",
                    .goal = PlanGoal{.objective = "cost", .deadline = 12 * kHour},
                    .plans = {best, second},
                    .bound = 101 * kDollar,
                    .gap = 0.0,
                    .relaxed_bound = 98.98 * kDollar,
                    .value_of_measuring = 2 * kDollar,
                    .excluded = {{"no price", 7}, {"not in memory", 120}, {"nothing", 0}},
                    .passes = {{.name = "feasibility",
                                .kept = 12,
                                .time = 1.5 * kMillisecond,
                                .implied = 1000,
                                .evaluated = 40}},
                    .assumptions = {"One.", "Two.", "Three.", "Four."}};
  return {.answer = std::move(answer)};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanSheet, ShowsThePlansWithTheirIntervals) {
  const std::string sheet = plan_sheet(outcome(), false, kPipe);
  EXPECT_TRUE(
      sheet.starts_with("mine: the cheapest plans, within 12.0 h, with 95 % confidence\n\n"))
      << sheet;
  // 101 dollars in 11.2 hours are 9.02 an hour. The market is in the cluster only.
  for (const char* part : {"#  cluster                GPUs       $/h  region     ",
                           "1  8x g4dn.12xlarge:spot  32x T4   $9.02  us-east-1",
                           "2  4x p3.8xlarge          -       $13.33  -  ", "1024 (4×)",
                           "11.2 h (10.1–12.3)", "$101 (91–111)", "97 %", "99.8 %", "over EFA"}) {
    EXPECT_TRUE(has(sheet, part)) << part << "\n" << sheet;
  }
}

// 101 less 98.98 is 2.02 dollars, 2 % of 101.
TEST(PlanSheet, SaysHowSureItIsAndWhatTheBoundMeans) {
  const std::string sheet = plan_sheet(outcome(), false, kPipe);
  EXPECT_TRUE(has(sheet, "P(best)         62 %.")) << sheet;
  EXPECT_TRUE(has(sheet, "No other plan of the model costs less (gap 0 %).")) << sheet;
  EXPECT_TRUE(has(sheet, "A mix of more than two types could save at most $2.02 (2 %)."));
  EXPECT_TRUE(has(sheet, "Measurements before renting are worth up to $2.00."));
  EXPECT_TRUE(has(sheet, "The oldest price is from 2025-07 (us-east-1)."));
}

TEST(PlanSheet, SaysWhatMoreCertaintyCostsWhereTheRiskIsWeighed) {
  PlanOutcome weighed = outcome();
  weighed.answer.goal->miss_charge = 2.944;
  EXPECT_TRUE(
      plan_sheet(weighed, false, kPipe)
          .starts_with("mine: the cheapest plans, within 12.0 h, weighing the risk of a miss"));
  EXPECT_TRUE(
      has(plan_sheet(weighed, false, kPipe),
          "No other plan of the model is as likely to be in time and costs less (gap 0 %)."));
  EXPECT_FALSE(has(plan_sheet(weighed, false, kPipe), "safer"));
  weighed.answer.plans.front().p_deadline = 0.9;
  EXPECT_TRUE(has(plan_sheet(weighed, false, kPipe),
                  "safer           No plan is in time with 95 % or more."));
  weighed.answer.safer = weighed.answer.plans.back();
  EXPECT_TRUE(has(plan_sheet(weighed, false, kPipe),
                  "4x p3.8xlarge is in time with 99.8 %, for $120 ($19.00 more); --confidence 95% "
                  "demands that."));
}

// e^(1.2815516 · 0.3) = 1.469.
TEST(PlanSheet, SaysHowOldPricesAreAndWhatThatMeans) {
  PlanOutcome old = outcome();
  EXPECT_FALSE(has(plan_sheet(old, false, kPipe), "days old"));
  old.answer.plans.front().prices = PriceDoubt{.share = 0.36, .deviation = 0.3, .oldest_days = 502};
  EXPECT_TRUE(has(plan_sheet(old, false, kPipe),
                  "Plan 1 pays prices up to 502 days old: with 80 % probability within a factor of "
                  "1.47, 36 % of the variance of its cost."));
}

TEST(PlanSheet, NeverCallsAnUnprovenPlanTheBest) {
  PlanOutcome unproven = outcome();
  unproven.answer.gap = 0.031;
  unproven.answer.bound = 98 * kDollar;
  EXPECT_TRUE(has(plan_sheet(unproven, false, kPipe),
                  "No plan of the model costs less than $98.00: plan 1 is at most 3 % above"));
  unproven.answer.goal->objective = "time";
  unproven.answer.time_bound = 10 * kHour;
  EXPECT_TRUE(has(plan_sheet(unproven, false, kPipe),
                  "No plan of the model takes less than 10.0 h: plan 1 is at most 3 % above"));
}

TEST(PlanSheet, ListsWhatWasLeftOutBiggestFirst) {
  const std::string sheet = plan_sheet(outcome(), false, kPipe);
  EXPECT_TRUE(has(sheet, "excluded        not in memory: 120\n                no price: 7\n"))
      << sheet;
  EXPECT_FALSE(has(sheet, "nothing"));
}

TEST(PlanSheet, PassesAndAllAssumptionsAreForTheCurious) {
  const std::string brief = plan_sheet(outcome(), false, kPipe);
  EXPECT_FALSE(has(brief, "feasibility"));
  EXPECT_FALSE(has(brief, "Four."));
  EXPECT_TRUE(has(brief, "… and 2 more; --verbose shows all."));
  const std::string full = plan_sheet(outcome(), true, kPipe);
  EXPECT_TRUE(has(full, "feasibility     1000         40    12  1.50 ms")) << full;
  EXPECT_TRUE(has(full, "Four."));
}

TEST(PlanSheet, FitsTheScreen) {
  for (const int width : {80, 100}) {
    const std::string sheet = plan_sheet(outcome(), true, {.width = width});
    for (const std::string& line : split(sheet, '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
    for (const char* part :
         {"8x g4dn.12xlarge:spot", "11.2 h (10.1–12.3)", "$101 (91–111)", "97 %"}) {
      EXPECT_TRUE(has(sheet, part)) << part << "\n" << sheet;
    }
  }
}

TEST(PlanSheet, AFrontComesWithItsPicture) {
  PlanOutcome front = outcome();
  front.answer.goal->objective = "front";
  front.answer.front = {plan_of("4x p3.2xlarge", 1, 100), plan_of("p3.2xlarge", 4, 50)};
  mark_knee(front.answer.front[0]);
  const std::string sheet = plan_sheet(front, false, kPipe);
  EXPECT_TRUE(has(sheet, "|K")) << sheet;
  // The first row is only the fastest.
  EXPECT_FALSE(has(sheet, "P(best)")) << sheet;
  EXPECT_FALSE(has(sheet, "costs less")) << sheet;
  EXPECT_TRUE(has(sheet, "both cheaper and faster than a plan of the front")) << sheet;
  EXPECT_FALSE(has(plan_sheet(outcome(), false, kPipe), "|K"));
}

// 101 - 80 = 21 dollars and 11.2 - 12.2 = -1 hour.
TEST(PlanSheet, APolicyIsComparedWithOurOwnPlan) {
  PlanOutcome policy = outcome();
  policy.answer.goal->policy = "cheapest-first";
  policy.ours = plan_of("2x g5.xlarge", 12.2, 80);
  const std::string sheet = plan_sheet(policy, false, kPipe);
  EXPECT_TRUE(has(sheet, "mine: the plan of cheapest-first, within 12.0 h")) << sheet;
  EXPECT_TRUE(
      sheet.ends_with("Stint's plan    2x g5.xlarge costs $80.00, $21.00 less than cheapest-first, "
                      "and takes 12.2 h, 1.00 h longer.\n"))
      << sheet;
}

// 12 h and 1.5 h are 13.5 h, which is 14 h for a flag.
TEST(PlanSheet, WithoutAPlanShowsTheNearestAndTheWayOut) {
  PlanOutcome none = outcome();
  none.answer.nearest = NearestPlan{.binding = "No plan is done in 12.0 h.",
                                    .late = 1.5 * kHour,
                                    .dearer = 7.2 * kDollar,
                                    .plan = none.answer.plans[0]};
  none.answer.goal->budget = 100 * kDollar;
  none.answer.plans.clear();
  const std::string sheet = plan_sheet(none, false, kPipe);
  for (const char* part :
       {"no plan         No plan is done in 12.0 h.\n", "1  8x g4dn.12xlarge:spot",
        "The plan misses the deadline by 1.50 h, with 95 % confidence.",
        "The plan exceeds the budget by $7.20", "feasible with   --deadline 14h --budget 108usd\n",
        "not in memory: 120"}) {
    EXPECT_TRUE(has(sheet, part)) << part << "\n" << sheet;
  }
}

TEST(PlanCsv, HasPlainNumbersAndUnitsInTheHeader) {
  const auto csv = Csv::parse(plan_csv(outcome().answer.plans), "plans");
  ASSERT_TRUE(csv.ok()) << csv.error().message;
  ASSERT_EQ(csv->rows(), 2U);
  EXPECT_EQ(csv->cell(0, "plan"), "1");
  EXPECT_EQ(csv->cell(0, "cluster"), "8x g4dn.12xlarge:spot");
  EXPECT_EQ(csv->cell(0, "time_s"), "40320");
  EXPECT_EQ(csv->cell(0, "accumulation"), "4");
  EXPECT_EQ(csv->cell(0, "region"), "us-east-1");
  EXPECT_EQ(csv->cell(1, "cost_usd"), "120");
  EXPECT_EQ(csv->cell(1, "p_best"), "");
  EXPECT_EQ(csv->cell(1, "note"), "over EFA");
  EXPECT_EQ(csv->cell(0, "gpus"), "32x T4");
  EXPECT_EQ(csv->cell(1, "usd_per_h").substr(0, 7), "13.3333");
}

TEST(DeadlineFlag, IsRoundedUp) {
  EXPECT_EQ(deadline_flag(13.2 * kHour), "14h");
  EXPECT_EQ(deadline_flag(94.1 * kMinute), "95min");
}

TEST(GoalText, SaysWhatWasAsked) {
  EXPECT_EQ(goal_text({.objective = "front"}), "the trade-off of cost and time");
  EXPECT_EQ(goal_text({.objective = "time", .budget = 150 * kDollar}),
            "the fastest plans, for at most $150, with 95 % confidence");
  EXPECT_EQ(goal_text({.objective = "knee", .rate_max = 3 * kDollar / kHour}),
            "the best trade-off of cost and time, at most $3.00/h");
}

}  // namespace
}  // namespace stint::cli
