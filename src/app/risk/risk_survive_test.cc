#include "app/risk/risk_survive.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"

namespace stint {
namespace {

Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_risk_survive_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

// The catalogue says 10 to 15 % a month of p4d.24xlarge: in 30 days 87.5 % of single machines are
// still there.
TEST(RiskSurvive, TakesTheBandOfTheCatalogue) {
  const auto report = survive_risk(bare(), {.vm = "p4d.24xlarge", .count = 1, .time = 30 * kDay});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->vm, "aws/p4d.24xlarge");
  EXPECT_NEAR(report->all_left.typical, 0.875, 1e-9);
  EXPECT_NEAR(report->all_left.low, 0.85, 1e-9);
  EXPECT_NEAR(report->all_left.high, 0.9, 1e-9);
  EXPECT_NEAR(report->all_left.independent, 0.875, 1e-9);
  EXPECT_NE(report->hazard_origin.find("10-15 % a month"), std::string::npos);
}

TEST(RiskSurvive, AGroupIsKeptMoreOftenThanIndependentMachines) {
  const auto report = survive_risk(bare(), {.vm = "p4d.24xlarge", .count = 8, .time = 30 * kDay});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_NEAR(report->all_left.independent, std::pow(0.875, 8), 1e-9);
  EXPECT_GT(report->all_left.typical, report->all_left.independent);
  EXPECT_NEAR(report->losses_expected.typical, 1, 1e-9);
  ASSERT_EQ(report->left.size(), 8U);
  EXPECT_NEAR(report->left.front().typical, report->all_left.typical, 1e-9);
  EXPECT_LT(report->left.back().typical, report->left.back().independent);
  EXPECT_GT(*report->first_loss.median, *report->first_loss_independent.median);
  EXPECT_LT(*report->first_loss.p10, *report->first_loss.median);
  EXPECT_LT(*report->first_loss.median, *report->first_loss.p90);
}

TEST(RiskSurvive, WithoutABandThereIsAPrior) {
  const auto report =
      survive_risk(bare(), {.vm = "a2-highgpu-1g", .count = 100, .time = 1 * kHour});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->hazard_origin.starts_with(
      "gcp has no interruption band; the shipped prior 'spot' of "));
  EXPECT_LT(report->all_left.low, report->all_left.high);
  EXPECT_EQ(report->left.front().machines, 100);
  EXPECT_EQ(report->left.back().machines, 1);
}

TEST(RiskSurvive, TakesLifetimesThatAreGiven) {
  const std::string rows = file("l.csv",
                                "machine_type,zone,lifetime_s,preempted\nn1,a,3600,1\n"
                                "n1,a,10800,1\nn1,b,21600,0\n");
  const auto report = survive_risk(
      bare(), {.vm = "p4d.24xlarge", .count = 1, .time = 1 * kHour, .lifetimes = {rows}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  // Two losses in ten hours.
  EXPECT_NEAR(report->all_left.typical, std::exp(-0.2), 0.01);
  EXPECT_TRUE(report->hazard_origin.starts_with("fitted to 3 lifetimes of which 2 were lost ("));
}

// Without a band few losses correct the prior: a day without a loss is better than what it expects,
// two losses within minutes are far worse.
TEST(RiskSurvive, FewLifetimesCorrectThePrior) {
  const auto survival = [](const std::vector<std::string>& rows) {
    SurviveRequest request{.vm = "a2-highgpu-1g", .count = 1, .time = 1 * kHour};
    std::string text = "machine_type,zone,lifetime_s,preempted\n";
    for (const std::string& row : rows) text += row + "\n";
    if (!rows.empty()) request.lifetimes = {file("own.csv", text)};
    const auto report = survive_risk(bare(), request);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? report->all_left.typical : 0;
  };
  const double prior = survival({});
  EXPECT_GT(survival({"a2,a,86400,0"}), prior);
  EXPECT_LT(survival({"a2,a,300,1", "a2,a,300,1"}), 0.5 * prior);
}

TEST(RiskSurvive, MachinesThatAreNeverLostHaveNoFirstLoss) {
  const std::string rows =
      file("calm.csv", "machine_type,zone,lifetime_s,preempted\nn1,a,3600,0\n");
  const auto report = survive_risk(
      bare(), {.vm = "p4d.24xlarge", .count = 2, .time = 1 * kHour, .lifetimes = {rows}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->all_left.typical, 1);
  EXPECT_FALSE(report->first_loss.median.has_value());
}

TEST(RiskSurvive, SaysWhatIsWrong) {
  const auto error = [](const SurviveRequest& request) {
    const auto report = survive_risk(bare(), request);
    return report.ok() ? "no error" : report.error().message;
  };
  EXPECT_EQ(error({.vm = "p4d.24xlarge", .count = 513, .time = kHour}),
            "--count must be from 1 to 512");
  EXPECT_EQ(error({.vm = "p4d.24xlarge", .time = Seconds()}), "--for must be above zero");
  EXPECT_EQ(error({.vm = "p4d.24xlarge", .region = "mars", .time = kHour}),
            "aws/p4d.24xlarge has no spot price in mars, so it is not available as a spot machine; "
            "see 'stint catalog show p4d.24xlarge'");
  EXPECT_NE(error({.vm = "nonsense", .time = kHour}).find("no VM type"), std::string::npos);
}

// Half of all in a month, by a table of one's own.
TEST(RiskSurvive, TakesTheBandOfATable) {
  const std::string table = file("advisor.csv",
                                 "region,instance_type,interruption_monthly_pct_range\n"
                                 "us-east-1,p4d.24xlarge,40-60\neu-west-1,p4d.24xlarge,<5\n");
  const SurviveRequest request{.vm = "p4d.24xlarge", .time = 30 * kDay, .advisor = table};
  const auto report = survive_risk(bare(), request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_NEAR(report->all_left.typical, 0.5, 1e-9);
  SurviveRequest other = request;
  other.region = "eu-west-1";
  EXPECT_NEAR(survive_risk(bare(), other)->all_left.typical, 0.975, 1e-9);
  other.region = "nowhere";
  EXPECT_EQ(survive_risk(bare(), other).error().kind, ErrorKind::kBadInput);
  other.lifetimes = {table};
  EXPECT_EQ(survive_risk(bare(), other).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
