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

// Two shards of 50 MB over PCIe 4.0 x16 at 25.6 GB/s, after 0.1081 s; uploaded at 61.22 MB/s each,
// after 3.1001 s. Rank 0 alone, while training waits: 3.208 s + 100 MB / 28.45 MB/s.
TEST(RiskSaves, ABlockingSaveStallsForTheTransfer) {
  SavesRequest request = day_on_google();
  const auto asynchronous = plan_saves(bare(), request);
  request.blocking = true;
  const auto blocking = plan_saves(bare(), request);
  ASSERT_TRUE(asynchronous.ok() && blocking.ok());
  EXPECT_NEAR(asynchronous->stall.in(kSecond), 0.1081 + 0.05 / 25.6, 1e-6);
  EXPECT_NEAR(asynchronous->transfer.in(kSecond), 3.1001 + 50 / 61.22, 1e-6);
  EXPECT_NEAR(blocking->stall.in(kSecond), 3.208 + 100 / 28.45, 0.01);
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
  request.bytes = 60000 * kGB;
  EXPECT_FALSE(plan_saves(bare(), request).ok());
}

}  // namespace
}  // namespace stint
