#include "app/risk/risk_fit.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"
#include "plan/calibration.h"
#include "risk/advisor.h"

namespace stint {
namespace {

Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

std::string path_of(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_risk_fit_test";
  return (folder / name).string();
}

std::string file(const std::string& name, const std::string& bytes) {
  EXPECT_TRUE(write_file(path_of(name), bytes).ok());
  return path_of(name);
}

std::string trace() {
  return file("trace.json",
              R"({"metadata": {"gap_seconds": 600}, "data": [2, 2, 0, 0, 0, 4, 1, 1, 0, 3]})");
}
std::string lifetimes() {
  return file("lifetimes.csv",
              "machine_type,zone,lifetime_s,preempted\nn1,a,3600,1\nn1,a,10800,1\nn1,b,21600,0\n");
}

// Ticks of 10 min: up 2, down 3, up 3, down 1, up 1. Up spells are 20, 30 and 10 min, so their mean
// and median are 20 min; six of ten ticks are up.
TEST(RiskFit, CountsSpells) {
  const auto report = fit_risk(bare(), {.files = {trace()}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const TraceReport& it = report->traces.front();
  EXPECT_EQ(it.ticks, 10);
  EXPECT_EQ(it.most, 4);
  EXPECT_DOUBLE_EQ(it.availability, 0.6);
  EXPECT_EQ(it.up.count, 3);
  EXPECT_DOUBLE_EQ(it.up.mean.in(kMinute), 20);
  EXPECT_DOUBLE_EQ(it.up.median.in(kMinute), 20);
  EXPECT_EQ(it.down.count, 2);
  EXPECT_DOUBLE_EQ(it.down.mean.in(kMinute), 20);
  EXPECT_TRUE(report->group.has_value());
  EXPECT_FALSE(report->lifetimes.has_value());
}

TEST(RiskFit, AGroupIsUpWhenAllOfItIsThere) {
  const auto report = fit_risk(bare(), {.files = {trace()}, .machines = 3});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_DOUBLE_EQ(report->traces.front().availability, 0.2);
}

// 2 losses in 1 + 3 + 6 h; one of three machines is gone after 1 h, one of two more after 3 h.
TEST(RiskFit, FitsLifetimes) {
  const auto report = fit_risk(bare(), {.files = {lifetimes()}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const LifetimeReport& it = *report->lifetimes;
  EXPECT_EQ(it.machines, 3);
  EXPECT_EQ(it.losses, 2);
  EXPECT_DOUBLE_EQ(it.exposure.in(kHour), 10);
  EXPECT_DOUBLE_EQ(it.rate.in(1 / kHour), 0.2);
  EXPECT_NEAR(it.horizons[0].measured->share, 2.0 / 3, 1e-12);
  EXPECT_NEAR(it.horizons[1].measured->share, 1.0 / 3, 1e-12);
  EXPECT_FALSE(it.horizons[4].measured.has_value());
}

// Failures in hours 0, 1 and 4 of five: 60 %, two in a row.
TEST(RiskFit, CountsFailedStartsByTheHour) {
  const auto report = fit_risk(
      bare(), {.files = {file("failures.csv",
                              "provider,gpu,num_gpus,zone,time_utc\n"
                              "gcp,K80,1,z,2020-03-15T10:11:21Z\ngcp,K80,1,z,2020-03-15T10:40:21Z\n"
                              "gcp,K80,1,z,2020-03-15T11:11:21Z\ngcp,K80,1,z,2020-03-15T14:11:21Z\n"
                              "aws,K80,1,,2020-03-15T14:11:21Z\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->failures.size(), 2U);
  EXPECT_EQ(report->failures[0].place, "aws");
  const FailureReport& it = report->failures[1];
  EXPECT_EQ(it.place, "gcp z");
  EXPECT_EQ(it.failures, 4);
  EXPECT_EQ(it.hours, 5);
  EXPECT_DOUBLE_EQ(it.hours_failed, 0.6);
  EXPECT_EQ(it.longest, 2);
}

TEST(RiskFit, SumsUpStartups) {
  const auto report =
      fit_risk(bare(), {.files = {file("startups.csv",
                                       "gpu,market,region,provisioning_s,staging_s,booting_s\n"
                                       "K80,preemptible,e,1,20,40\nK80,preemptible,e,1,40,60\n"
                                       "K80,on-demand,e,1,1,1\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->startups.size(), 2U);
  EXPECT_EQ(report->startups[1].market, "spot");
  EXPECT_DOUBLE_EQ(report->startups[1].time.mean.in(kSecond), 81);
}

TEST(RiskFit, WritesWhatItFound) {
  const auto report = fit_risk(bare(), {.files = {trace(), lifetimes()},
                                        .name = "mine",
                                        .provenance = "here",
                                        .out = path_of("mine.json")});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const auto text = read_file(path_of("mine.json"));
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto calibration = read_calibration(*text, "mine.json");
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_TRUE(calibration->warnings.empty());
  const auto prior = read_spot_prior(calibration->noun);
  ASSERT_TRUE(prior.ok()) << prior.error().message;
  EXPECT_NEAR(prior->hazard.typical.survival(kHour), report->lifetimes->hazard.survival(kHour),
              1e-4);
}

// The published share is a study like the lifetimes: 2 losses in 10 h and 1 − e^−0.05 in an hour
// make √(0.2 · 0.05) = 0.1 per hour.
TEST(RiskFit, APublishedShareIsAStudy) {
  const std::string published = file("published.csv",
                                     "provider,within_h,lost_min_pct,lost_max_pct,source\n"
                                     "gcp,1,4.877058,4.877058,here\n");
  const auto report = fit_risk(bare(), {.files = {trace(), lifetimes(), published},
                                        .name = "mine",
                                        .provenance = "here",
                                        .out = path_of("both.json")});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const auto calibration = read_calibration(*read_file(path_of("both.json")), "both.json");
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  const auto prior = read_spot_prior(calibration->noun);
  ASSERT_TRUE(prior.ok()) << prior.error().message;
  EXPECT_NEAR(prior->hazard.typical.cumulative(kHour), 0.1, 0.005);
}

TEST(RiskFit, SaysWhatIsWrong) {
  const auto error = [](const RiskFitRequest& request) {
    const auto report = fit_risk(bare(), request);
    return report.ok() ? "no error" : report.error().message;
  };
  EXPECT_NE(error({.files = {path_of("nowhere")}}).find("No such file"), std::string::npos);
  EXPECT_NE(error({.files = {file("odd.csv", "a,b\n1,2\n")}})
                .find("odd.csv: not a trace of machines, lifetimes"),
            std::string::npos);
  EXPECT_EQ(error({.files = {trace()}, .out = path_of("x.json")}),
            "--out needs lifetimes and a trace of several machines with losses");
  EXPECT_EQ(error({.files = {trace(), lifetimes()}, .out = path_of("x.json")}),
            "--out needs --name, the name of the calibration");
  EXPECT_EQ(error({.files = {trace(), lifetimes()}, .name = "x", .out = path_of("x.json")}),
            "--out needs --provenance, the source of the files");
}

}  // namespace
}  // namespace stint
