#include "cli/render/render_run.h"

#include <gtest/gtest.h>

#include "cli/render/figures.h"
#include "cli/render/run_report_fixture.h"

namespace stint::cli {
namespace {

constexpr Terminal kPipe{.width = 0};

double number(const Json& json, const char* name) {
  const Json* member = json.find(name);
  if (member == nullptr) return -1;
  if (const double* real = member->as<double>()) return *real;
  const std::int64_t* whole = member->as<std::int64_t>();
  return whole == nullptr ? -1 : static_cast<double>(*whole);
}

std::string text(const Json& json, const char* name) {
  const Json* member = json.find(name);
  return member == nullptr || !member->as<std::string>() ? "" : *member->as<std::string>();
}

TEST(RenderRun, SmallBillsHaveFourDigits) {
  EXPECT_EQ(bill_text(0.00123 * kDollar), "$0.0012");
  EXPECT_EQ(bill_text(12.3 * kDollar), "$12.30");
}

TEST(RenderRun, MomentsCountFromTheBeginning) {
  EXPECT_EQ(moment_text(83.46 * kSecond), "00:01:23.4");
  EXPECT_EQ(moment_text(3600 * kSecond), "01:00:00.0");
  EXPECT_EQ(moment_text(59.99 * kSecond), "00:00:59.9");  // Never "60.0".
  EXPECT_EQ(moment_text(-1 * kSecond), "00:00:00.0");
}

TEST(RenderRun, StandingSaysHowFarItIs) {
  const std::string standing = standing_text(small_report(), 2, kPipe);
  EXPECT_NE(standing.find("small  trained"), std::string::npos) << standing;
  EXPECT_NE(standing.find("because all 20 steps are trained and saved"), std::string::npos);
  EXPECT_NE(standing.find("step 20 of 20"), std::string::npos);
  EXPECT_NE(standing.find("saved     step 20 (3 checkpoints)"), std::string::npos);
  EXPECT_NE(standing.find("planned 30 s (25 s–40 s)"), std::string::npos);
  EXPECT_NE(standing.find("cost      $0.0060; planned $0.0050 ($0.0040–$0.0065)"),
            std::string::npos);
  EXPECT_EQ(standing.find("vm1 is there"), std::string::npos);  // Only the last two events.
  EXPECT_NE(standing.find("00:00:34.5  trained: all 20 steps"), std::string::npos);
}

// 0.36 USD/h are 0.0001 USD/s.
TEST(RenderRun, MachinesThatCostAreNeverCalledHalted) {
  RunReport report = small_report();
  report.story.outcome.reset();
  report.story.saved = 7;
  report.left = LeftMachines{.status = {},
                             .vms = {"vm1", "vm2"},
                             .rate = 0.72 * kDollar / kHour,
                             .cost = 0.0123 * kDollar};
  const std::string standing = standing_text(report, 0, kPipe);
  EXPECT_NE(standing.find("small  unattended\n"), std::string::npos) << standing;
  EXPECT_NE(standing.find("  machines  vm1, vm2 still up at $0.7200/h, $0.0123 so far; no process "
                          "conducts the run\n"
                          "  resume    stint run --resume small\n"
                          "  release   stint stop small\n"),
            std::string::npos)
      << standing;
  const Json json = report_json(report);
  EXPECT_EQ(text(json, "state"), "unattended");
  ASSERT_NE(json.find("left"), nullptr);
  EXPECT_NEAR(number(*json.find("left"), "rate_usd_per_h"), 0.72, 1e-9);
  EXPECT_EQ(text(*json.find("left"), "release"), "stint stop small");
  const RunLine line{.name = "small", .saved = 20, .steps = 20, .left = report.left};
  const std::string runs = runs_text({.runs = {line}, .warnings = {}}, kPipe);
  EXPECT_NE(runs.find("unattended"), std::string::npos) << runs;
  EXPECT_NE(runs.find("stint stop small"), std::string::npos) << runs;
  EXPECT_EQ(runs.find("--resume"), std::string::npos) << runs;  // Nothing is left to train.
}

TEST(RenderRun, ARunWithoutAProcessIsHalted) {
  RunReport report = small_report();
  report.story.outcome.reset();
  EXPECT_NE(standing_text(report, 0, kPipe).find("small  halted"), std::string::npos);
  report.alive = true;
  report.record.deadline = 60 * kSecond;
  report.outlook = RunOutlook{.p_deadline = 0.75};
  const std::string standing = standing_text(report, 0, kPipe);
  EXPECT_NE(standing.find("small  running"), std::string::npos);
  EXPECT_NE(standing.find("deadline  60 s, P(deadline) 75 %"), std::string::npos) << standing;
}

TEST(RenderRun, EventsCannotSteerTheTerminal) {
  RunReport report = small_report();
  report.story.lines = {{.at = 1 * kSecond, .text = "\x1b[2Jgone"}};
  EXPECT_EQ(standing_text(report, 1, kPipe).find('\x1b'), std::string::npos);
  EXPECT_EQ(report_text(report, kPipe).find('\x1b'), std::string::npos);
}

// 34.5 s against 30 s is 15 % more; 0.006 USD against 0.005 USD is 20 % more. Of the attempts the
// last had the most steps: 1 s predicted and measured. A save took 0.75 s and not 1 s.
TEST(RenderRun, HoldsThePredictionAgainstTheMeasurement) {
  const std::vector<ForecastRow> rows = forecast_rows(small_report());
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].what, "time");
  EXPECT_EQ(rows[0].off, "+15.0 %");
  EXPECT_EQ(rows[1].off, "+20.0 %");
  EXPECT_EQ(rows[2].what, "machines lost");
  EXPECT_EQ(rows[2].predicted, "1.5");
  EXPECT_EQ(rows[2].measured, "3");
  EXPECT_EQ(rows[3].what, "step");
  EXPECT_EQ(rows[3].off, "+0.0 %");
  EXPECT_EQ(rows[4].off, "-25.0 %");
  RunReport report = small_report();
  report.record.forecast.reset();
  report.story.attempts.clear();
  report.story.save_time.reset();
  EXPECT_TRUE(forecast_rows(report).empty());
}

TEST(RenderRun, AReportHasMachinesPartsAndEvents) {
  const std::string report = report_text(small_report(), kPipe);
  for (const char* words : {"vm5", "interrupted", "released", "repeating lost steps", "stalled",
                            "vm2 is lost", "local.small"}) {
    EXPECT_NE(report.find(words), std::string::npos) << words << "\n" << report;
  }
}

TEST(RenderRun, AsJsonItHasTheSameFigures) {
  const Json json = report_json(small_report());
  EXPECT_EQ(text(json, "schema"), "stint.run-report/1");
  EXPECT_EQ(text(json, "name"), "small");
  EXPECT_EQ(text(json, "state"), "trained");
  EXPECT_EQ(number(json, "time_s"), 34.5);
  EXPECT_NEAR(number(json, "cost_usd"), 0.006, 1e-9);
  EXPECT_EQ(number(json, "redone"), 1);
  EXPECT_EQ(number(json, "losses"), 3);
  double time = 0;
  double cost = 0;
  for (const Json& part : *json.find("parts")->as<Json::Array>()) {
    time += number(part, "time_s");
    cost += number(part, "cost_usd");
  }
  EXPECT_NEAR(time, 34.5, 1e-9);
  EXPECT_NEAR(cost, 0.006, 1e-9);
  ASSERT_EQ(json.find("vms")->as<Json::Array>()->size(), 5U);
  EXPECT_EQ(number((*json.find("vms")->as<Json::Array>())[1], "billed_s"), 7.5);
  const Json::Array& attempts = *json.find("attempts")->as<Json::Array>();
  ASSERT_EQ(attempts.size(), 5U);
  EXPECT_EQ(number(attempts[1], "step_predicted_s"), 2);
  EXPECT_EQ(attempts[3].find("step_measured_s"), nullptr);  // It never trained.
  ASSERT_EQ(json.find("saves")->as<Json::Array>()->size(), 1U);
  EXPECT_EQ(number((*json.find("saves")->as<Json::Array>())[0], "bytes"), 200);
  EXPECT_EQ(json.find("deadline_s"), nullptr);
  EXPECT_NE(json.find("forecast"), nullptr);
  EXPECT_EQ(to_text(json, JsonStyle::kLine).find("00112233"), std::string::npos);  // The secret.
}

TEST(RenderRun, ListsRuns) {
  const RunList list{.runs = {{.name = "a",
                               .outcome = RunVerdict::kGaveUp,
                               .saved = 3,
                               .reached = 5,
                               .steps = 20,
                               .time = 9 * kSecond,
                               .cost = 0.01 * kDollar},
                              {.name = "b", .alive = true}}};
  const std::string table = runs_text(list, kPipe);
  EXPECT_NE(table.find("gave-up"), std::string::npos);
  EXPECT_NE(table.find("running"), std::string::npos);
  const Json json = runs_json(list);
  EXPECT_EQ(text(json, "schema"), "stint.runs/1");
  ASSERT_EQ(json.find("runs")->as<Json::Array>()->size(), 2U);
  const Json& first = (*json.find("runs")->as<Json::Array>())[0];
  EXPECT_EQ(number(first, "saved"), 3);
  EXPECT_EQ(number(first, "cost_usd"), 0.01);
  EXPECT_EQ(runs_json({}).find("runs")->as<Json::Array>()->size(), 0U);
}

}  // namespace
}  // namespace stint::cli
