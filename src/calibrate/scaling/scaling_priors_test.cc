#include "calibrate/scaling/scaling_priors.h"

#include <gtest/gtest.h>

#include "calibrate/scaling/scaling_fixture.h"

namespace stint {
namespace {

TEST(ScalingPriors, ReadsFormatCommonAndJobConstants) {
  const auto priors = scaling_priors(scaling_calibration(), "test");
  ASSERT_TRUE(priors.ok()) << priors.error().message;
  EXPECT_EQ(priors->floor.mean, -3);
  EXPECT_EQ(priors->floor.deviation, 1);
  EXPECT_EQ(priors->noise, 0.02);
  EXPECT_EQ(priors->jobs.at("bert").parameters, 1e8);
}

TEST(ScalingPriors, AMissingConstantIsNamed) {
  Calibration calibration = scaling_calibration();
  std::erase_if(calibration.constants, [](const Constant& it) { return it.name == "owner"; });
  const auto priors = scaling_priors(calibration, "test");
  ASSERT_FALSE(priors.ok());
  EXPECT_EQ(priors.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(priors.error().message.find("'owner'"), std::string::npos);
  EXPECT_FALSE(scaling_priors(scaling_calibration(), "other").ok());
}

// 1e8 parameters of 2 bytes, both directions: 400 MB at 100 Gbit/s = 12.5 GB/s take 32 ms.
TEST(ScalingSetup, SendsTheGradientsOfTheJob) {
  const auto priors = scaling_priors(scaling_calibration(), "test");
  ASSERT_TRUE(priors.ok());
  ScalingRow row = scaling_row("bert", 16, 512);
  row.network = 100 * kGbit / kSecond;
  const ScalingSetup setup = scaling_setup(row, *priors);
  EXPECT_NEAR(setup.wire.in(kMillisecond), 32, 1e-9);
  EXPECT_EQ(setup.samples, 32);
  EXPECT_EQ(setup.vms, 2);
}

// 1e12 parameters of 18 bytes need 225 workers of 80 GB; a VM of 8 holds 8/225 of them.
TEST(ScalingSetup, AModelIsSpreadOverTheWorkersThatHoldIt) {
  const auto priors = scaling_priors(scaling_calibration(), "test");
  ASSERT_TRUE(priors.ok());
  ScalingRow row = scaling_row("huge", 1024, 1024);
  row.parameters = 1e12;
  row.network = 8e12 * kBit / kSecond;
  EXPECT_NEAR(scaling_setup(row, *priors).wire.in(kSecond), 4.0 * 8 / 225, 1e-9);
}

TEST(ScalingSetup, AnUnknownNetworkGrowsWithTheWorkersOfAVm) {
  const auto priors = scaling_priors(scaling_calibration(), "test");
  ASSERT_TRUE(priors.ok());
  ScalingRow small = scaling_row("bert", 8, 256);
  small.workers_per_vm = 4;
  small.vms = 2;
  EXPECT_EQ(2 * scaling_setup(scaling_row("bert", 16, 512), *priors).wire,
            scaling_setup(small, *priors).wire);
}

}  // namespace
}  // namespace stint
