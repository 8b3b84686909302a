#include "risk/price_drift.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

constexpr PriceDrift kDrift{.variance_rate = 0.0002 / kDay, .limit = 0.5};

Calibration calibration_of_prices() {
  return {
      .name = "p",
      .date = {2026, 11, 18},
      .constants =
          {{.name = "variance_rate", .scope = "price: spot", .value = 0.0002, .unit = "1/day"},
           {.name = "limit", .scope = "price: spot", .value = 0.5, .unit = "1"},
           {.name = "variance_rate", .scope = "price: on-demand", .value = 1e-5, .unit = "1/day"},
           {.name = "limit", .scope = "price: on-demand", .value = 0.3, .unit = "1"}},
      .data = {{.name = "fitted", .provenance = "before", .rows = 7},
               {.name = "limit", .provenance = "a prior", .rows = 0}}};
}

// 50 days: v age / L² = 0.01 / 0.25 = 0.04, 1 - e^-0.04 = 0.0392106, times 0.25 = 0.00980264, whose
// root is 0.0990083; a random walk without a limit had 0.1.
TEST(PriceDrift, GrowsWithTheRootOfTimeAndEndsAtTheLimit) {
  EXPECT_NEAR(kDrift.deviation(50 * kDay), 0.0990083, 1e-6);
  EXPECT_NEAR(kDrift.deviation(1 * kDay), std::sqrt(0.0002), 1e-5);
  EXPECT_NEAR(kDrift.deviation(1e6 * kDay), 0.5, 1e-12);
}

TEST(PriceDrift, PricesOfTodayAndOfTheFutureAreKnown) {
  EXPECT_EQ(kDrift.deviation(Seconds{}), 0);
  EXPECT_EQ(kDrift.deviation(-3 * kDay), 0);
  EXPECT_EQ(PriceDrift{}.deviation(500 * kDay), 0);
}

// From 2025-07 (the first of the month) to 2025-08-20 are 50 days.
TEST(PriceDrift, AnOutlookCountsTheDaysSinceThePrice) {
  const PriceOutlook outlook{
      .law = {.spot = kDrift, .on_demand = {.variance_rate = 1e-5 / kDay, .limit = 0.3}},
      .today = {2025, 8, 20}};
  EXPECT_NEAR(outlook.deviation(Market::kSpot, {2025, 7}), 0.0990083, 1e-6);
  EXPECT_LT(outlook.deviation(Market::kOnDemand, {2025, 7}), 0.03);
}

/// Random walks of the logarithm, a row a day, of `pools` pools in ten regions.
std::vector<PriceRow> walks(int pools, int days, double variance_per_day) {
  Random random(11);
  std::vector<PriceRow> rows;
  for (int pool = 0; pool < pools; ++pool) {
    double log_price = 0;
    for (int day = 0; day < days; ++day) {
      rows.push_back({.type = "t" + std::to_string(pool),
                      .zone = "r-" + std::to_string(pool % 10) + "a",
                      .time = day * kDay,
                      .price = std::exp(log_price) * kDollar / kHour});
      log_price += std::sqrt(variance_per_day) * random.normal();
    }
  }
  return rows;
}

TEST(PriceDrift, FindsTheRateOfRandomWalks) {
  const auto fit = fit_price_drift(walks(200, 80, 0.0004), 5);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_NEAR(fit->variance_rate * kDay, 0.0004, 0.00004);
  EXPECT_EQ(fit->age_max, 56 * kDay);
  EXPECT_EQ(fit->rows, 16000);
  EXPECT_EQ(fit->pools, 200);
  EXPECT_GT(fit->log_deviation, 0);
  EXPECT_LT(fit->log_deviation, 0.2);
}

// Forty rows a day apart, each 1 % above the one before: all changes over a day are ln 1.01 =
// 0.00995033, those over two days twice that. A normal with this 80 % interval has the deviation
// 0.00995033 / 1.2815516 = 0.00776428 and the square 6.02840e-5; over two days the square is four
// times that, half of it per day. 39 and 38 rows, so that 3 days (37 rows: thrice), 5 (35: five
// times), 7 (33) and 10 days (30) follow: the rate at d days is 6.02840e-5 d.
TEST(PriceDrift, WeighsAgesByTheirRows) {
  std::vector<PriceRow> rows;
  for (int day = 0; day < 40; ++day) {
    rows.push_back({.type = "t",
                    .zone = "z",
                    .time = day * kDay,
                    .price = std::pow(1.01, day) * kDollar / kHour});
  }
  const auto fit = fit_price_drift(rows, 1e6);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  const double mean_log = (39 * std::log(1.0) + 38 * std::log(2.0) + 37 * std::log(3.0) +
                           35 * std::log(5.0) + 33 * std::log(7.0) + 30 * std::log(10.0)) /
                          (39 + 38 + 37 + 35 + 33 + 30);
  EXPECT_NEAR(fit->variance_rate * kDay, 6.02840e-5 * std::exp(mean_log), 1e-8);
  EXPECT_EQ(fit->age_max, 10 * kDay);
  EXPECT_EQ(fit->log_deviation, 0);
}

TEST(PriceDrift, SaysWhenNothingCanBeLearned) {
  const auto few = fit_price_drift(walks(1, 20, 0.0004), 1);
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.error().message.find("20 dated prices are too few"), std::string::npos);
  const auto still = fit_price_drift(walks(3, 50, 0), 1);
  ASSERT_FALSE(still.ok());
  EXPECT_NE(still.error().message.find("never change"), std::string::npos);
}

TEST(PriceDrift, AFitReplacesRowsAndKeepsPriors) {
  Calibration calibration = calibration_of_prices();
  set_price_fit({.variance_rate = 0.0003 / kDay, .log_deviation = 0.1, .rows = 99}, "tables",
                calibration);
  const auto law = read_price_law(calibration);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_NEAR(law->spot.variance_rate * kDay, 0.0003, 1e-12);
  EXPECT_EQ(law->spot.limit, 0.5);
  EXPECT_EQ(law->on_demand.limit, 0.3);
  EXPECT_NEAR(*calibration.constants[0].deviation, 0.00003, 1e-12);
  ASSERT_EQ(calibration.data.size(), 2U);
  EXPECT_EQ(calibration.data[0].rows, 99);
  EXPECT_EQ(calibration.data[1].provenance, "a prior");
}

TEST(PriceDrift, ALawNeedsAllItsConstants) {
  Calibration calibration = calibration_of_prices();
  calibration.constants[1].value = 0;
  const auto law = read_price_law(calibration);
  ASSERT_FALSE(law.ok());
  EXPECT_EQ(law.error().message,
            "the calibration 'p' needs a constant 'limit' above zero in 1 of the scope 'price: "
            "spot'");
}

}  // namespace
}  // namespace stint
