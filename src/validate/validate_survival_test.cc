#include "validate/validate_survival.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_survival_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// `machines` of a zone: every second is lost after one to three hours, 2 h on average, and the
/// others are watched for 23 h.
std::string zone(const std::string& name, int machines) {
  std::string rows;
  for (int i = 0; i < machines; i += 2) {
    rows += fmt::format("n1,{},{},1\n", name, 3600 + 7200 * (i + 1) / machines);
    rows += fmt::format("n1,{},82800,0\n", name);
  }
  return rows;
}

constexpr const char* kHeader = "machine_type,zone,lifetime_s,preempted\n";

TEST(ValidateSurvival, ZonesAreAsEachOther) {
  const auto report = validate_survival(
      {.train = {file("zones.csv", kHeader + zone("a", 120) + zone("b", 100) + zone("c", 20))},
       .split = "zones"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->groups.size(), 3U);
  EXPECT_EQ(report->groups[2].name, "small zones");
  const SurvivalGroup& group = report->groups[0];
  EXPECT_EQ(group.machines, 120);
  EXPECT_EQ(group.losses, 60);
  EXPECT_EQ(group.machines_train, 120);
  EXPECT_DOUBLE_EQ(group.horizons[0].measured->share, 1);
  EXPECT_NEAR(group.horizons[1].measured->share, 0.5, 1e-9);
  EXPECT_NEAR(group.horizons[3].predicted, 0.5, 0.05);
  // No machine was observed for 24 h, so that this one is skipped.
  EXPECT_FALSE(group.horizons[4].measured.has_value());
  EXPECT_EQ(report->scores.validation.overall.n, 12);
  EXPECT_EQ(report->scores.validation.overall.skipped, 3);
  EXPECT_EQ(report->scores.validation.jobs.size(), 3U);
  EXPECT_EQ(report->scores.predictions.size(), 240U);
  EXPECT_LT(report->scores.validation.overall.mape, report->scores.beside.front().overall.mape);
}

// 60 losses in 60·2 h + 60·23 h = 1500 h are 0.04 an hour.
TEST(ValidateSurvival, TheExponentialIsLossesOverExposure) {
  const auto report = validate_survival({.train = {file("a.csv", kHeader + zone("a", 120))},
                                         .test = {file("b.csv", kHeader + zone("b", 10))},
                                         .exponential = true});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_NEAR(report->groups[0].horizons[0].exponential, std::exp(-0.04), 1e-9);
  EXPECT_EQ(report->scores.validation.baseline, "exponential");
  EXPECT_EQ(report->scores.predictions.front().row, 0U);
  EXPECT_NEAR(*report->scores.predictions.front().predicted, std::log(2) / 0.04 * 3600, 1e-6);
}

TEST(ValidateSurvival, WithoutMeasurementsPredictionsAreStillMade) {
  const auto report = validate_survival({.train = {file("a.csv", kHeader + zone("a", 120))},
                                         .test = {file("bare.csv", "machine_type,zone\nn1,b\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->scores.validation.overall.n, 0);
  EXPECT_EQ(report->scores.validation.overall.skipped, 5);
  EXPECT_TRUE(report->scores.predictions.front().predicted.has_value());
}

TEST(ValidateSurvival, WhereNothingWasLostNoLifetimeIsPredicted) {
  const auto report =
      validate_survival({.train = {file("calm.csv", std::string(kHeader) + "n1,a,7200,0\n")},
                         .test = {file("b.csv", kHeader + zone("b", 10))}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->groups[0].horizons[0].predicted, 1);
  EXPECT_FALSE(report->scores.predictions.front().predicted.has_value());
  EXPECT_EQ(report->scores.predictions.front().note, "no machine of the training rows was lost");
}

TEST(ValidateSurvival, SaysWhatIsWrong) {
  const std::string one = file("one.csv", kHeader + zone("a", 120));
  const auto error = [](const SurvivalRequest& request) {
    const auto report = validate_survival(request);
    return report.ok() ? "no error" : report.error().message;
  };
  EXPECT_EQ(error({.train = {one}, .split = "zones"}),
            "the training files have one group of zones only, so none is left to learn from; give "
            "--test");
  EXPECT_EQ(error({.train = {file("none.csv", kHeader)}, .test = {one}}),
            "the training files have no lifetimes");
  EXPECT_EQ(error({.train = {one}, .test = {file("none.csv", kHeader)}}),
            "the test files have no rows");
  EXPECT_EQ(error({}), "--train FILE is required: the rows to learn from");
}

// The exponential expects hardly any loss in the first hour and most of them later; on Google's VMs
// both are wrong.
TEST(ValidateSurvival, BeatsTheExponentialOnGooglesZones) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set, so Google's zones are not scored.";
  const auto report = validate_survival(
      {.train = {std::string(data) + "/preempt_google_vm/lifetimes.csv"}, .split = "zones"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  for (const auto& [zone, score] : report->scores.validation.jobs) {
    EXPECT_LT(score.mape, report->scores.beside.front().jobs.at(zone).mape) << zone;
  }
}

}  // namespace
}  // namespace stint
