#include "app/risk/risk_saves.h"

#include <gtest/gtest.h>
#include <memory>

namespace stint {
namespace {

Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

SavesRequest day_on_google() {
  return {.machines = {.vm = "a2-highgpu-1g", .count = 2, .time = 24 * kHour}, .bytes = 100 * kMB};
}

// Google's GPU VMs died young: saves are close together at first, and rarer for those that lasted.
TEST(RiskSaves, FollowTheAgeOfTheMachines) {
  const auto report = plan_saves(bare(), day_on_google());
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_GT(report->begins.size(), 4U);
  const Seconds first = report->begins[1] - report->begins[0];
  const Seconds last = report->begins.back() - report->begins[report->begins.size() - 2];
  EXPECT_LT(first, last);
  EXPECT_LE(report->waste, report->constant.waste * (1 + 1e-9));
  EXPECT_LE(report->constant.waste, report->daly.waste * (1 + 1e-9));
  EXPECT_EQ(report->fits_in_notice, true);
  EXPECT_LT(report->without_notice, 1);
}

TEST(RiskSaves, ABlockingSaveStallsForTheTransfer) {
  SavesRequest request = day_on_google();
  const auto asynchronous = plan_saves(bare(), request);
  request.blocking = true;
  const auto blocking = plan_saves(bare(), request);
  ASSERT_TRUE(asynchronous.ok() && blocking.ok());
  EXPECT_DOUBLE_EQ(blocking->stall.in(kSecond),
                   (asynchronous->stall + asynchronous->transfer).in(kSecond));
  EXPECT_EQ(blocking->transfer, Seconds{});
}

TEST(RiskSaves, RefusesSpotMachinesWithoutCheckpoints) {
  SavesRequest request = day_on_google();
  request.bytes.reset();
  const auto report = plan_saves(bare(), request);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kBadInput);
}

TEST(RiskSaves, RefusesSavesThatAreHardlyEverSafe) {
  SavesRequest request = day_on_google();
  request.machines.count = 64;
  request.bytes = 3000 * kGB;
  EXPECT_FALSE(plan_saves(bare(), request).ok());
}

}  // namespace
}  // namespace stint
