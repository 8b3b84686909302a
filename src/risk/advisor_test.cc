#include "risk/advisor.h"

#include <cmath>
#include <gtest/gtest.h>

#include "risk/pool_population.h"

namespace stint {
namespace {

Interruption band(double low, std::optional<double> high) {
  return {.monthly_min = low,
          .monthly_max = high,
          .date = {.year = 2025, .month = 7},
          .source = "aws-spot-advisor"};
}

// In the middle of 5 and 10 % a month, 7.5 % are lost after 30 days.
TEST(Advisor, ABandIsARateWithItsEnds) {
  const PoolHazard pool = advised_hazard(band(0.05, 0.1));
  EXPECT_NEAR(pool.typical.survival(30 * kDay), 0.925, 1e-12);
  EXPECT_NEAR(pool.low.survival(30 * kDay), 0.95, 1e-12);
  EXPECT_NEAR(pool.high.survival(30 * kDay), 0.9, 1e-12);
  EXPECT_EQ(pool.origin,
            "5-10 % a month of such machines are interrupted (aws-spot-advisor, 2025-07)");
}

TEST(Advisor, AnOpenBandSaysWhereItIsTakenToEnd) {
  const PoolHazard pool = advised_hazard(band(0.2, std::nullopt));
  EXPECT_NEAR(pool.typical.survival(30 * kDay), 0.65, 1e-12);
  EXPECT_NEAR(pool.high.survival(30 * kDay), 0.5, 1e-12);
  EXPECT_NE(pool.origin.find("the open band is assumed to end at 50 %"), std::string::npos);
}

TEST(Advisor, ABandUpToAllMachinesIsNotEndless) {
  EXPECT_TRUE(std::isfinite(advised_hazard(band(0.2, 1.0)).high.cumulative(kDay)));
}

PoolPopulation two_zones() {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 200; ++i) {
    const Seconds age = (i % 20 + 1) * (i % 2 == 0 ? 0.1 : 0.4) * kHour;
    lifetimes.push_back({.provider = "gcp",
                         .machine = "K80",
                         .gpus = 1,
                         .zone = i % 2 == 0 ? "a" : "b",
                         .at_least = age,
                         .at_most = age});
  }
  return pool_population(std::vector{study_of(lifetimes)});
}

TEST(SpotPrior, IsReadAsItWasWritten) {
  const GroupLoss group{.shared = 0.25, .reach = 0.125};
  Calibration calibration = spot_calibration(two_zones(), group);
  calibration.name = "spot";
  calibration.data.push_back({.name = "d", .provenance = "somewhere", .rows = 200});
  const auto prior = read_spot_prior(calibration);
  ASSERT_TRUE(prior.ok()) << prior.error().message;
  EXPECT_EQ(prior->group, group);
  const Hazard hazard = two_zones().median;
  EXPECT_NEAR(prior->hazard.typical.survival(kHour), hazard.survival(kHour), 1e-4);
  EXPECT_GT(prior->hazard.low.survival(kHour), prior->hazard.typical.survival(kHour));
  EXPECT_LT(prior->hazard.high.survival(kHour), prior->hazard.typical.survival(kHour));
  EXPECT_EQ(prior->hazard.origin, "the shipped prior 'spot' of 1970-01: somewhere");
}

// Five losses in an hour each, where the prior expects half a loss: its median rate rises most of
// the way, and its band narrows.
TEST(SpotPrior, FollowsOnesOwnMachines) {
  const PoolHazard prior =
      population_hazard({.median = Hazard::constant(0.1 / kHour), .deviation = 2});
  const std::vector<Lifetime> own(
      5, {.provider = "gcp", .machine = "K80", .zone = "a", .at_least = kHour, .at_most = kHour});
  const PoolHazard after = observed_hazard(prior, own);
  EXPECT_GT(after.typical.cumulative(kHour), 0.5);
  EXPECT_LT(after.typical.cumulative(kHour), 1.1);
  EXPECT_LT(after.high.cumulative(kHour) / after.low.cumulative(kHour), 4);
  EXPECT_GT(prior.high.cumulative(kHour) / prior.low.cumulative(kHour), 90);
}

TEST(SpotPrior, RefusesOtherCalibrations) {
  Calibration other{.name = "aws-tcp"};
  EXPECT_EQ(read_spot_prior(other).error().message,
            "the calibration 'aws-tcp' is not a prior of spot machines: it has no hazard; write "
            "one with 'stint risk fit --out'");
  Calibration broken = spot_calibration(two_zones(), {});
  broken.constants.pop_back();
  EXPECT_NE(read_spot_prior(broken).error().message.find("no constant reach"), std::string::npos);
  Calibration unsorted = spot_calibration(two_zones(), {});
  std::swap(unsorted.constants[0], unsorted.constants[1]);
  EXPECT_FALSE(read_spot_prior(unsorted).ok());
  Calibration wild = spot_calibration(two_zones(), {});
  wild.constants.back().value = 2;
  EXPECT_FALSE(read_spot_prior(wild).ok());
}

}  // namespace
}  // namespace stint
