#include "load/price_check.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

struct Hourly {
  std::optional<double> on_demand;
  std::optional<double> spot;
  bool derived = false;  // Whether the spot price is computed.
};

std::optional<Price> price(const std::optional<double>& usd) {
  if (!usd) return std::nullopt;
  return Price{.rate = *usd * kDollar / kHour, .date = {.year = 2026, .month = 1}, .source = "s"};
}

Catalog catalog(const std::string& region, const Hourly& hourly) {
  Offer offer{.region = region, .on_demand = price(hourly.on_demand), .spot = price(hourly.spot)};
  if (hourly.derived) offer.spot->derived = "a guess";
  return {.types = {{.provider = "aws", .name = "box", .offers = {offer}}}};
}

std::string problem(const Catalog& fresh, const Catalog& bundled) {
  const Status status = check_prices(fresh, bundled, "f.csv");
  return status.ok() ? "" : status.error().message;
}

TEST(CheckPrices, RefusesLessThanAThirdOfTheOnDemandPrice) {
  const Catalog bundled = catalog("r", {.on_demand = 3});
  EXPECT_EQ(problem(catalog("r", {.on_demand = 0.99}), bundled),
            "f.csv: box in r on demand costs 0.99 USD/h, the bundled price is 3 USD/h: check that "
            "prices are of whole machines per hour, or add --force");
  EXPECT_EQ(problem(catalog("r", {.on_demand = 1.01}), bundled), "");
  // Another region is compared with the cheapest that is known.
  EXPECT_NE(problem(catalog("elsewhere", {.on_demand = 0.99}), bundled), "");
}

TEST(CheckPrices, ComparesSpotPricesWithListedOnes) {
  const Catalog listed = catalog("r", {.on_demand = 10, .spot = 6});
  EXPECT_NE(problem(catalog("r", {.spot = 1.9}), listed), "");
  EXPECT_EQ(problem(catalog("r", {.spot = 2.1}), listed), "");
  // A computed price proves less: only what nobody offers is refused.
  const Catalog computed = catalog("r", {.on_demand = 10, .spot = 6, .derived = true});
  EXPECT_EQ(problem(catalog("r", {.spot = 1.9}), computed), "");
  EXPECT_NE(problem(catalog("r", {.spot = 0.49}), computed), "");
}

TEST(CheckPrices, SaysNothingOfMachinesThatAreNotBundled) {
  Catalog fresh = catalog("r", {.on_demand = 0.01});
  fresh.types[0].name = "other";
  EXPECT_EQ(problem(fresh, catalog("r", {.on_demand = 3})), "");
}

}  // namespace
}  // namespace stint
