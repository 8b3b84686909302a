#include "calibrate/sharded/nearby_residuals.h"

#include <cmath>
#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

Neighbour row_of(const ParallelLayout& layout, double cost = 0) {
  return {.row = sharded_row(8, layout, 16), .cost = cost};
}

TEST(NearbyResiduals, RemembersASetupAndForgetsFarOnes) {
  const Neighbour near = row_of({.data = 8});
  const Neighbour far = row_of({.data = 1, .tensor = 8});
  const NearbyResiduals field({near}, {0.05});
  // One row: k/(k + noise²) of its residual, k = 0.08² and noise = 0.025: 91.1 %.
  EXPECT_NEAR(field.at(near).mean, 0.04555, 0.00005);
  EXPECT_NEAR(field.at(near).variance, 0.0064 * (1 - 0.9110), 1e-5);
  // Three doublings of the tensor degree away: exp(−4.5); on four times the length exp(−4.5/16).
  EXPECT_NEAR(field.at(far).mean, 0.04555 * std::exp(-4.5), 1e-5);
  EXPECT_NEAR(field.on({.layout = 4}).at(far).mean, 0.04555 * std::exp(-4.5 / 16), 5e-5);
  Neighbour other = near;
  other.row.table = "another";
  EXPECT_EQ(field.at(other).mean, 0);
  EXPECT_EQ(NearbyResiduals().at(near).mean, 0);
}

TEST(NearbyResiduals, LimitsWhatOneRowTells) {
  const Neighbour it = row_of({.data = 8});
  EXPECT_LT(NearbyResiduals({it}, {5.0}).at(it).mean, NearbyResiduals::kLimit);
}

// Of five equal rows one says 0.5. Their mean would be 0.1; robust, it is hardly there.
TEST(NearbyResiduals, CountsARowLessThatItsNeighboursContradict) {
  const Neighbour it = row_of({.data = 8});
  const NearbyResiduals plain(std::vector(5, it), {0, 0, 0.5, 0, 0});
  // k / (k + noise²/5) of the mean.
  EXPECT_NEAR(plain.at(it).mean, 0.1 * 0.9808, 0.0001);
  const double robust = plain.on({.robust = true}).at(it).mean;
  EXPECT_GT(robust, 0);
  EXPECT_LT(robust, 0.01);
}

// The law says that the second layout costs 0.2 more than the first; both are as fast, so that
// their residuals are 0.1 and −0.1. A third one of cost 0.4 then does not cost that either.
TEST(NearbyResiduals, LearnsThatTheLawSeesTooMuchInLayouts) {
  const std::vector rows{row_of({.data = 8}, 0), row_of({.data = 1, .tensor = 8}, 0.2)};
  const Neighbour third = row_of({.data = 1, .pipeline = 8}, 0.4);
  const NearbyResiduals plain(rows, {0.1, -0.1});
  EXPECT_NEAR(plain.at(third).mean, 0, 0.002);
  EXPECT_LT(plain.on({.layout = 1, .slope = 0.5}).at(third).mean, -0.05);
  // Of a job without rows nothing is known of its layouts.
  Neighbour other = third;
  other.row.job = "another";
  EXPECT_NEAR(plain.on({.layout = 1, .slope = 0.5}).at(other).mean, 0, 0.002);
}

}  // namespace
}  // namespace stint
