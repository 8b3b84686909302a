#include "cli/render/render_runs.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

Plan plan() {
  Plan plan{.cluster = *parse_cluster("2x p3.2xlarge:spot")};
  plan.time = {.mean = 10 * kHour, .p10 = 9 * kHour, .p90 = 12 * kHour};
  plan.cost = {.mean = 20 * kDollar, .p10 = 18 * kDollar, .p90 = 24 * kDollar};
  plan.bill = Bill{.compute = 20 * kDollar};
  plan.p_deadline = 0.9;
  return plan;
}

RunSummary runs(Dollars cost) {
  const std::vector<RunOutcome> outcomes(
      2,
      RunOutcome{.time = 11 * kHour, .bill = {.compute = cost}, .losses = 3, .machines_lost = 4});
  return summary_of(outcomes, 12 * kHour, 50 * kDollar);
}

TEST(RenderRuns, SetsThePlanBesideItsRuns) {
  SimulateReport report{.job = "j", .plan = plan(), .region = "here", .runs = runs(30 * kDollar)};
  const std::string text = simulation_text(report, {});
  EXPECT_TRUE(text.starts_with("j on 2x p3.2xlarge:spot in here, 2 runs\n")) << text;
  EXPECT_NE(text.find("10.0 h"), std::string::npos) << text;
  EXPECT_NE(text.find("11.0 h"), std::string::npos) << text;
  EXPECT_NE(text.find("$30.00"), std::string::npos) << text;
  EXPECT_EQ(text.find("finished"), std::string::npos) << text;
  report.runs.finished = 0.5;
  EXPECT_NE(simulation_text(report, {}).find("finished"), std::string::npos);
  const Json json = simulation_json(report);
  EXPECT_EQ(*json.find("what")->as<std::string>(), "simulate");
  EXPECT_EQ(*json.find("simulated")->find("cost")->find("p50_usd")->as<double>(), 30);
  EXPECT_EQ(*json.find("simulated")->find("losses")->as<double>(), 3);
  EXPECT_EQ(*json.find("planned")->find("p_deadline")->as<double>(), 0.9);
  EXPECT_EQ(json.find("trace"), nullptr);
}

TEST(RenderRuns, SetsPoliciesBesideEachOther) {
  const RevocationsReport report{
      .job = "j",
      .goal = {.deadline = 12 * kHour, .budget = 50 * kDollar, .rate_max = 3 * kDollar / kHour},
      .vms_max = 4,
      .options = {.runs = 2},
      .rows =
          {{.policy = "stint", .plan = plan(), .runs = runs(10 * kDollar)},
           {.policy = "deepvm", .plan = plan(), .binding = "Because.", .runs = runs(25 * kDollar)}},
      .deepvm_over_stint = 2.5,
      .deepvm_over_stint_median = 2.25};
  const std::string text = revocations_text(report, {.width = 200});
  EXPECT_NE(text.find("at most $3.00/h and 4 VMs, within 12.0 h, for $50.00 with 95 % confidence"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2.5 times as much as Stint's; by the median 2.25"), std::string::npos)
      << text;
  const Json json = revocations_json(report);
  EXPECT_EQ(*json.find("schema")->as<std::string>(), "stint.validation/1");
  EXPECT_EQ(*json.find("deepvm_over_stint")->as<double>(), 2.5);
  const auto& rows = *json.find("policies")->as<Json::Array>();
  EXPECT_TRUE(*rows[0].find("keeps_limits")->as<bool>());
  EXPECT_EQ(*rows[1].find("binding")->as<std::string>(), "Because.");
}

TEST(RenderRuns, ReadsTheOptionsOfASimulation) {
  EXPECT_EQ(simulation_of({})->runs, 1000);
  EXPECT_TRUE(simulation_of({})->prediction_error);
  const auto options =
      simulation_of({.options = {{"--runs", {"50"}}, {"--seed", {"9"}}, {"--as-predicted", {}}}});
  EXPECT_EQ(options->runs, 50);
  EXPECT_EQ(options->seed, 9U);
  EXPECT_FALSE(options->prediction_error);
  EXPECT_FALSE(simulation_of({.options = {{"--runs", {"0"}}}}).ok());
  EXPECT_FALSE(simulation_of({.options = {{"--runs", {"10000000"}}}}).ok());
  EXPECT_FALSE(simulation_of({.options = {{"--seed", {"x"}}}}).ok());
}

}  // namespace
}  // namespace stint::cli
