#include "cli/render/render_explain.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint::cli {
namespace {

/// A plan of 36,000 iterations of a second and half an hour of set-up, before one that is ten
/// dollars dearer and an hour shorter, and a cheaper one that is done after 16 hours.
Explanation example() {
  Plan plan{.cluster = *parse_cluster("8x g4dn.12xlarge")};
  plan.time = {.mean = 10.5 * kHour, .p10 = 8 * kHour, .p90 = 12.5 * kHour};
  plan.cost = {.mean = 105 * kDollar, .p10 = 80 * kDollar, .p90 = 125 * kDollar};
  plan.p_deadline = 0.96;
  plan.global_batch = 2048;
  plan.iterations = 36000;
  plan.bill =
      Bill{.compute = 80 * kDollar, .exposed_communication = 20 * kDollar, .set_up = 5 * kDollar};
  plan.layout = Layout{.cluster = plan.cluster,
                       .setups = {{.workers_per_vm = 4, .batch_per_worker = 32}},
                       .accumulation = 2};
  plan.prediction = Prediction{.cluster = plan.cluster};
  plan.prediction->iteration = {.mean = 1 * kSecond, .p10 = 0.8 * kSecond, .p90 = 1.2 * kSecond};
  plan.prediction->iteration.parts = {.forward = 0.5 * kSecond, .backward = 0.5 * kSecond};
  plan.prediction->price = PriceUsed{
      .rate = 10 * kDollar / kHour, .region = "us-east-1", .date = {.year = 2025, .month = 7}};
  Plan next = plan;
  next.cluster = *parse_cluster("4x p3.8xlarge");
  next.time.mean = 9.5 * kHour;
  next.cost.mean = 115 * kDollar;
  next.bill->compute = 90 * kDollar;
  Plan slow = plan;
  slow.cluster = *parse_cluster("4x g4dn.12xlarge");
  slow.time = {.mean = 16 * kHour, .p10 = 16 * kHour, .p90 = 16 * kHour};
  slow.cost.mean = 95 * kDollar;
  return explain({.job = "mine",
                  .goal = PlanGoal{.objective = "cost", .deadline = 13 * kHour},
                  .plans = {plan, next},
                  .front = {next, plan, slow}},
                 0);
}

TEST(ExplanationSheet, TakesThePlanApart) {
  const std::string sheet = explanation_sheet(example(), {.width = 0});
  for (const char* part :
       {"mine, plan 1: 8x g4dn.12xlarge\nAsked for: the cheapest plans, within 13.0 h",
        "compute             $80.00  76.2 %  ##############################\n",
        "bill                  $105  80 % between $80.00 and $125\n",
        "forward             500 ms  50.0 %",
        "time            10.5 h, 80 % between 8.00 h and 12.5 h: 36000 iterations of 1000 ms are "
        "10.0 h, start-up and waiting 0.50 h\n",
        "in time         96 %\n",
        "layout          8x g4dn.12xlarge: 32 workers, 4 per VM, with up to 32 samples each\n",
        "samples         2048 per iteration in 2 micro-steps\n", "gradients       ring\n",
        "price           $10.00/h in us-east-1, as of 2025-07\n"}) {
    EXPECT_NE(sheet.find(part), std::string::npos) << part << "\n" << sheet;
  }
}

// The numbers are those of explain_case_test.cc.
TEST(ExplanationSheet, SaysWhatComesNextAndWhatWouldChangeThat) {
  const std::string sheet = explanation_sheet(example(), {.width = 0});
  for (const char* part :
       {"runner-up       plan 2, 4x p3.8xlarge: $10.00 dearer (mostly compute), 1.00 h shorter\n",
        "swap if         VMs of plan 1 9.5 % dearer; or VMs of plan 2 8.7 % cheaper; or plan 1 "
        "10.0 % "
        "slower than predicted (its interval is ±21.4 %: probability 20 % if plan 2 is as "
        "predicted, less if their errors correlate)\n",
        "later           With --deadline 16h, 4x g4dn.12xlarge would cost $95.00: $10.00 less."}) {
    EXPECT_NE(sheet.find(part), std::string::npos) << part << "\n" << sheet;
  }
}

TEST(ExplanationSheet, FitsTheScreen) {
  for (const std::string& line : split(explanation_sheet(example(), {.width = 80}), '\n')) {
    EXPECT_LE(display_width(line), 80) << line;
  }
}

TEST(ExplanationJson, HoldsTheSame) {
  const Json json = explanation_json(example());
  EXPECT_EQ(*json.find("schema")->as<std::string>(), "stint.explanation/1");
  EXPECT_EQ(json.find("bill")->as<Json::Array>()->size(), 3U);
  EXPECT_EQ(json.find("iteration")->as<Json::Array>()->size(), 6U);
  const Json* next = json.find("runner_up");
  ASSERT_NE(next, nullptr);
  EXPECT_DOUBLE_EQ(*next->find("dearer_usd")->as<double>(), 10);
  EXPECT_NEAR(*next->find("flip")->find("time_up")->as<double>(), 0.1, 1e-12);
  EXPECT_NEAR(*json.find("later")->find("saved_usd")->as<double>(), 10, 1e-12);
  EXPECT_TRUE(parse_json(to_text(json, JsonStyle::kPretty), "json").ok());
}

}  // namespace
}  // namespace stint::cli
