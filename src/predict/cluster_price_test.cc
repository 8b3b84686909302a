#include "predict/cluster_price.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Price price_of(double dollars, int day) {
  return {.rate = dollars * kDollar / kHour,
          .date = {.year = 2026, .month = 7, .day = day},
          .source = "s"};
}

VmType big() {
  return {.provider = "x",
          .name = "big",
          .offers = {{.region = "east", .on_demand = price_of(4, 20), .spot = price_of(1, 2)},
                     {.region = "west", .on_demand = price_of(3, 20)}}};
}

VmType small() {
  return {.provider = "x",
          .name = "small",
          .offers = {{.region = "east", .on_demand = price_of(1, 10)},
                     {.region = "west", .on_demand = price_of(5, 11)}}};
}

std::optional<ClusterPrice> price(const std::string& cluster, const std::vector<VmType>& types) {
  return cluster_price(*parse_cluster(cluster), types);
}

TEST(ClusterPrice, IsOfTheCheapestRegionForAllOfIt) {
  // Alone, big is cheapest in the west; beside small, east costs 2·4 + 1 = 9 and west 2·3 + 5 = 11.
  EXPECT_EQ(price("2x big", {big()})->region, "west");
  const auto both = price("2x big + 1x small", {big(), small()});
  EXPECT_EQ(both->region, "east");
  EXPECT_NEAR(both->rate.in(kDollar / kHour), 9, 1e-9);
  EXPECT_EQ(both->date.day, 10);
}

TEST(ClusterPrice, KeepsToTheNamedRegionAndMarket) {
  EXPECT_NEAR(price("x/east/big", {big()})->rate.in(kDollar / kHour), 4, 1e-9);
  EXPECT_NEAR(price("3x big:spot", {big()})->rate.in(kDollar / kHour), 3, 1e-9);
  EXPECT_FALSE(price("x/west/big:spot", {big()}));
  EXPECT_FALSE(price("big + small:spot", {big(), small()}));
}

}  // namespace
}  // namespace stint
