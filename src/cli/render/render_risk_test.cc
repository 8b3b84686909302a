#include "cli/render/render_risk.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(RenderRisk, ShowsOnlyWhatTheFilesHold) {
  EXPECT_EQ(risk_fit_text({}, {}), "");
  RiskFitReport report;
  report.startups.push_back(
      {.device = "K80",
       .market = "spot",
       .time = {.count = 2, .mean = 81 * kSecond, .median = 81 * kSecond, .p90 = 150 * kSecond}});
  EXPECT_EQ(risk_fit_text(report, {}),
            "start-up of  market  VMs  mean  median      p90\nK80          spot      2  81 s    81 "
            "s  2.5 min\n");
}

TEST(RenderRisk, TracesAndFailuresHaveTables) {
  RiskFitReport report;
  report.traces.push_back({.name = "t",
                           .gap = 5 * kMinute,
                           .ticks = 12,
                           .most = 4,
                           .availability = 0.5,
                           .up = {.count = 1, .mean = kHour, .median = kHour, .p90 = kHour},
                           .down = {}});
  report.group = GroupLoss{.shared = 1, .reach = 0.25};
  report.failures.push_back(
      {.place = "gcp z", .failures = 4, .hours = 5, .hours_failed = 0.6, .longest = 2});
  const std::string text = risk_fit_text(report, {});
  EXPECT_NE(text.find("up          1  1.0 h"), std::string::npos) << text;
  EXPECT_NE(text.find("down        0      -"), std::string::npos) << text;
  // 8 machines with b = 3: 4·8/11 = 2.9 events.
  EXPECT_NE(text.find("see a loss 2.9 times as often as one machine, not 8 times."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("gcp z"), std::string::npos) << text;
  const Json json = risk_fit_json(report);
  EXPECT_EQ(*json.find("schema")->as<std::string>(), "stint.risk/1");
  EXPECT_EQ(*json.find("dependence")->find("reach")->as<double>(), 0.25);
  EXPECT_EQ(json.find("lifetimes"), nullptr);
}

TEST(RenderRisk, ALossThatNeverComesIsNull) {
  SurviveReport report{.vm = "aws/x", .count = 2, .time = 4 * kHour};
  report.all_left = {.typical = 1, .low = 1, .high = 1, .independent = 1};
  EXPECT_NE(survive_text(report, {}).find("first loss, median   never"), std::string::npos)
      << survive_text(report, {});
  const Json json = survive_json(report);
  EXPECT_EQ(json.find("first_loss")->find("median_s")->as<double>(), nullptr);
  EXPECT_EQ(*json.find("for_s")->as<double>(), 14400);
}

}  // namespace
}  // namespace stint::cli
