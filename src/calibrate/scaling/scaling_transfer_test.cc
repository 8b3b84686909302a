#include "calibrate/scaling/scaling_transfer.h"

#include <gtest/gtest.h>

#include "calibrate/priors_fixture.h"
#include "calibrate/scaling/scaling_fixture.h"

namespace stint {
namespace {

ScalingPriors test_priors() {
  const auto priors = scaling_priors(scaling_calibration(), "test");
  CHECK(priors.ok());
  return *priors;
}

/// 100 ms for 64 samples on a worker of one VM.
ScalingRow one_vm(const std::string& job = "bert") {
  ScalingRow row = scaling_row(job, 8, 512);
  row.time = 100 * kMillisecond;
  return row;
}

/// Eight VMs with as many samples per worker.
ScalingRow eight_vms(BytesPerSecond network) {
  ScalingRow row = scaling_row("bert", 64, 4096);
  row.network = network;
  return row;
}

Forecast forecast_of(const ScalingRow& row, double further = 0) {
  const NetworkPriors networks = [&](BytesPerSecond) -> Result<LawPriors> {
    LawPriors priors = bundled_priors();
    priors.fabric.cost += further;
    return priors;
  };
  const auto forecasts =
      forecast_by_network(std::vector{one_vm()}, std::vector{row}, test_priors(), networks);
  CHECK(forecasts.ok());
  return forecasts->front();
}

TEST(ScalingTransfer, AClusterTakesAsLongAsOneVmAtLeast) {
  const Forecast one = forecast_of(scaling_row("bert", 8, 512));
  const Forecast eight = forecast_of(eight_vms(400 * kGbit / kSecond));
  ASSERT_TRUE(one.time);
  ASSERT_TRUE(eight.time);
  EXPECT_NEAR(one.time->in(kMillisecond), 100, 5);
  EXPECT_GE(*eight.time, *one.time);
  EXPECT_LT(*eight.p10, *eight.time);
  EXPECT_GT(*eight.p90, *eight.time);
}

TEST(ScalingTransfer, ACostlierNetworkTakesLonger) {
  const ScalingRow row = eight_vms(10 * kGbit / kSecond);
  EXPECT_GT(*forecast_of(row, 2).time, 1.1 * *forecast_of(row).time);
}

// Rows of clusters in training teach nothing: the prediction is from one VM alone.
TEST(ScalingTransfer, ClustersAreNotLearnedFrom) {
  ScalingRow slow = eight_vms(400 * kGbit / kSecond);
  slow.time = 10 * kSecond;
  const NetworkPriors networks = [](BytesPerSecond) -> Result<LawPriors> {
    return bundled_priors();
  };
  const ScalingRow row = eight_vms(400 * kGbit / kSecond);
  const auto with =
      forecast_by_network(std::vector{one_vm(), slow}, std::vector{row}, test_priors(), networks);
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(with->front().time, forecast_of(row).time);
}

TEST(ScalingTransfer, AJobWithoutOneVmHasANoteAndErrorsOfPriorsArePassedOn) {
  const NetworkPriors none = [](BytesPerSecond) -> Result<LawPriors> {
    return bad_input("no network");
  };
  const auto other =
      forecast_by_network(std::vector{one_vm("ssd")}, std::vector{eight_vms(10 * kGbit / kSecond)},
                          test_priors(), none);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->front().note, "there is no training data for bert");
  const auto failed = forecast_by_network(
      std::vector{one_vm()}, std::vector{eight_vms(10 * kGbit / kSecond)}, test_priors(), none);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "no network");
}

// The way back: on a network where eight VMs take twice as long as one, the row has twice what the
// law says of one VM, and rows of owners without a single VM are left out.
TEST(ScalingTransfer, ClustersBecomeRowsOfTheLaw) {
  ScalingRow eight = eight_vms(400 * kGbit / kSecond);
  eight.time = 200 * kMillisecond;
  ScalingRow other = eight;
  other.owner = "without a single VM";
  const LawPriors law = bundled_priors();
  const auto rows =
      network_rows(std::vector{one_vm(), eight, other}, test_priors(), law, 200 * kGbit / kSecond);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  const LawRow& row = rows->front();
  EXPECT_EQ(row.job, "bert");
  EXPECT_EQ(row.input.vms, 8);
  EXPECT_NEAR(row.input.network, 2, 1e-12);
  EXPECT_EQ(row.input.reference, 200 * kGbit / kSecond);
  const Seconds alone = row.input.alone;
  EXPECT_NEAR(alone.in(kMillisecond), 100, 5);
  EXPECT_GE(row.time, 1.9 * alone);
}

}  // namespace
}  // namespace stint
