#include "calibrate/sharded/nearby_residuals.h"

#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

TEST(NearbyResiduals, RemembersASetupAndForgetsFarOnes) {
  const auto cases = sharded_cases(
      std::vector{sharded_row(8, {.data = 8}, 16), sharded_row(8, {.data = 1, .tensor = 8}, 16)},
      sharded_catalog());
  const NearbyResiduals field({&cases[0]}, {0.1});
  // One row: k/(k + noise²) of its residual, k = 0.08² and noise = 0.025: 91 %.
  EXPECT_NEAR(field.at(cases[0]).mean, 0.0911, 0.0001);
  EXPECT_NEAR(field.at(cases[0]).variance, 0.0064 * (1 - 0.9110), 1e-5);
  // Three doublings of the tensor degree away: exp(−4.5).
  EXPECT_NEAR(field.at(cases[1]).mean, 0.0911 * std::exp(-4.5), 1e-5);
  ShardedCase other = cases[0];
  other.row.table = "another";
  EXPECT_EQ(field.at(other).mean, 0);
  EXPECT_EQ(NearbyResiduals().at(cases[0]).mean, 0);
}

TEST(NearbyResiduals, LimitsWhatOneRowTells) {
  const auto cases = sharded_cases(std::vector{sharded_row(8, {.data = 8}, 16)}, sharded_catalog());
  const NearbyResiduals field({&cases[0]}, {5.0});
  EXPECT_LT(field.at(cases[0]).mean, NearbyResiduals::kLimit);
}

}  // namespace
}  // namespace stint
