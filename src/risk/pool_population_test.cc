#include "risk/pool_population.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/normal.h"

namespace stint {
namespace {

PoolStudy constant_study(double per_hour, double variance = 0) {
  return {.hazard = Hazard::constant(per_hour / kHour), .variance = variance};
}

Lifetime lost(double hours) {
  return {.provider = "p", .at_least = hours * kHour, .at_most = hours * kHour};
}
Lifetime alive(double hours) { return {.provider = "p", .at_least = hours * kHour, .at_most = {}}; }

// Rates of 0.01, 0.1 and 1 per hour: the geometric mean is 0.1, and the logarithms deviate by
// ln 10 = 2.3026 from each other, so that their variance is 5.3019; times 4/3 for a mean of three.
TEST(PoolPopulation, CountsEachStudyOnce) {
  const PoolPopulation pools = pool_population(
      std::vector{constant_study(0.01, 0.3), constant_study(0.1, 0), constant_study(1, 0)});
  EXPECT_NEAR(pools.median.cumulative(kHour), 0.1, 1e-9);
  EXPECT_NEAR(pools.median.cumulative(100 * kHour), 10, 1e-6);
  EXPECT_NEAR(pools.deviation, std::sqrt(5.3019 * 4 / 3 + 0.1), 1e-4);
}

// Of a young pool that loses at 1 per hour for one hour and never after, and one of 0.04 per hour:
// √(0.5 · 0.02) = 0.1 after half an hour, √(1 · 0.96) after a day.
TEST(PoolPopulation, KeepsTheShapeOverAge) {
  const Hazard young({{{}, 1 / kHour}, {0.5 * kHour, 1 / kHour}, {kHour, {}}});
  const PoolPopulation pools =
      pool_population(std::vector{PoolStudy{.hazard = young}, constant_study(0.04)});
  EXPECT_NEAR(pools.median.cumulative(0.5 * kHour), 0.1, 1e-9);
  EXPECT_NEAR(pools.median.cumulative(kDay), std::sqrt(0.96), 1e-9);
  EXPECT_GT(pools.median.rate({}), pools.median.rate(2 * kHour));
}

TEST(PoolPopulation, AStudyAloneKeepsItsHazard) {
  const PoolPopulation pools =
      pool_population(std::vector{constant_study(0.2, 0.25), constant_study(0)});
  EXPECT_NEAR(pools.median.cumulative(kHour), 0.2, 1e-12);
  EXPECT_NEAR(pools.deviation, 0.5, 1e-12);
}

TEST(PoolPopulation, WithoutLossesNothingIsLost) {
  const PoolPopulation pools = pool_population(std::vector{constant_study(0)});
  EXPECT_EQ(pools.median.cumulative(kDay), 0);
  EXPECT_EQ(pools.deviation, 0);
}

// 5 % to 15 % a day are −ln 0.95 = 0.0513 and −ln 0.85 = 0.1625: their geometric mean is 0.0913,
// and the logarithms are 1.153 apart, a variance of 0.1108.
TEST(PoolStudy, IsThatOfAPublishedShare) {
  const PoolStudy study =
      study_of(PublishedLosses{.within = kDay, .share_min = 0.05, .share_max = 0.15});
  EXPECT_NEAR(study.hazard.cumulative(kDay), 0.0913, 1e-4);
  EXPECT_NEAR(study.variance, 0.1108, 1e-4);
}

TEST(PoolStudy, TakesTheSpreadOfItsZones) {
  std::vector<Lifetime> rows;
  for (int i = 0; i < 200; ++i) {
    rows.push_back(lost((i % 20 + 1) * (i % 2 == 0 ? 0.1 : 0.4)));
    rows.back().zone = i % 2 == 0 ? "a" : "b";
  }
  EXPECT_GT(study_of(rows).variance, 0.1);
  for (Lifetime& it : rows) it.zone = "a";
  EXPECT_EQ(study_of(rows).variance, 0);
}

// The middle of the outer quarter is 1.1503 deviations away.
TEST(QuarterFactors, AreSymmetric) {
  const QuarterFactors factors = quarter_factors(2);
  EXPECT_NEAR(factors.high, std::exp(2 * 1.15035), 1e-3);
  EXPECT_NEAR(factors.low * factors.high, 1, 1e-12);
  EXPECT_NEAR(deviation_of(factors), 2, 1e-12);
}

TEST(ObservedFactor, IsThePriorWithoutObservations) {
  const PoolPopulation pools{.median = Hazard::constant(0.1 / kHour), .deviation = 2};
  const PoolFactor factor = observed_factor(pools, {});
  EXPECT_NEAR(factor.median, 1, 0.02);
  EXPECT_NEAR(std::log(factor.high), 2 * normal_quantile(7.0 / 8), 0.03);
  EXPECT_NEAR(std::log(factor.low), -2 * normal_quantile(7.0 / 8), 0.03);
}

// Four losses in 4 h at 0.1 per hour: ten times as many as expected. A wide population follows its
// pool, a narrow one hardly.
TEST(ObservedFactor, MovesAWidePopulationQuickly) {
  const std::vector<Lifetime> own{lost(1), lost(1), lost(1), lost(1)};
  const Hazard hazard = Hazard::constant(0.1 / kHour);
  const PoolFactor wide = observed_factor({.median = hazard, .deviation = 2}, own);
  EXPECT_GT(wide.median, 5);
  EXPECT_LT(wide.median, 11);
  EXPECT_LT(std::log(wide.high / wide.low), 1.5);
  EXPECT_LT(observed_factor({.median = hazard, .deviation = 0.2}, own).median, 1.3);
}

// A week of a machine without a loss, where the median pool would have had 17.
TEST(ObservedFactor, ACalmWeekLowersIt) {
  const PoolPopulation pools{.median = Hazard::constant(0.1 / kHour), .deviation = 2};
  const std::vector<Lifetime> own(7, alive(24));
  const PoolFactor factor = observed_factor(pools, own);
  EXPECT_LT(factor.high, 0.2);
  EXPECT_GT(factor.low, 0);
}

}  // namespace
}  // namespace stint
