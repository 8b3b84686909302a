#include "predict/free_sharing.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

FreeSharingLaw law() {
  return {.slope = 0.1,
          .elsewhere = {.log_share = std::log(0.5), .spread = 0.4},
          .devices = {{"V100", {.log_share = std::log(0.6), .spread = 0.3}}}};
}

Calibration calibration_of(const FreeSharingLaw& it) {
  Calibration calibration;
  calibration.name = "mine";
  calibration.constants = free_sharing_constants(it);
  return calibration;
}

// Steps of 400 and 100 ms: 0.6 · 4^0.1 = 0.689 and 0.6 · 4^−0.1 = 0.522. Worked by hand.
TEST(FreeShares, MatchHandComputedCase) {
  const FreeShares it = free_shares(law(), "V100", {400 * kMillisecond, 100 * kMillisecond});
  EXPECT_NEAR(it.share[0], 0.689, 0.001);
  EXPECT_NEAR(it.share[1], 0.522, 0.001);
  EXPECT_EQ(it.deviation, 0.3);
}

TEST(FreeShares, AnAcceleratorIsOfItsFamily) {
  const std::array<Seconds, 2> same{kSecond, kSecond};
  EXPECT_NEAR(free_shares(law(), "V100-SXM2-16GB", same).share[0], 0.6, 1e-9);
  EXPECT_NEAR(free_shares(law(), "A100-40GB", same).share[0], 0.5, 1e-9);
  EXPECT_EQ(free_shares(law(), "A100-40GB", same).deviation, 0.4);
}

TEST(FreeShares, NobodyIsFasterThanAlone) {
  const FreeShares it = free_shares(law(), "V100", {1000 * kSecond, 0.001 * kSecond});
  EXPECT_EQ(it.share[0], 1);
  EXPECT_LT(it.share[1], 0.3);
}

TEST(FreeSharingLaw, SurvivesACalibration) {
  const auto read = free_sharing_law(calibration_of(law()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->slope, 0.1);
  EXPECT_EQ(read->elsewhere.spread, 0.4);
  ASSERT_EQ(read->devices.size(), 1U);
  EXPECT_EQ(read->devices.at("V100").log_share, std::log(0.6));
}

TEST(FreeSharingLaw, SaysWhatIsMissing) {
  EXPECT_EQ(free_sharing_law(Calibration{.name = "mine"}).error().message,
            "the calibration mine lacks slope of free sharing");
  Calibration short_of = calibration_of(law());
  short_of.constants.pop_back();
  EXPECT_EQ(free_sharing_law(short_of).error().message,
            "the calibration mine lacks spread of free sharing: V100");
  FreeSharingLaw odd = law();
  odd.elsewhere.spread = 0;
  EXPECT_EQ(free_sharing_law(calibration_of(odd)).error().message,
            "the calibration mine must have log_share up to 0 and spread above 0 of free sharing");
}

}  // namespace
}  // namespace stint
