#include "cloud/cluster_spec.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

std::vector<PoolChange> sample_pool() {
  return {{.at = 10 * kSecond, .spot = 4, .price_factor = 2},
          {.at = 20 * kSecond, .spot = 1},
          {.at = 30 * kSecond, .spot = 8, .price_factor = 0.5}};
}

TEST(Pool, WithoutChangesThereIsNoLimitAndPricesStay) {
  EXPECT_FALSE(spot_capacity({}, 5 * kSecond).has_value());
  EXPECT_EQ(spot_price_factor({}, 5 * kSecond), 1);
  EXPECT_EQ(priced_time({}, 5 * kSecond, 8 * kSecond), 3 * kSecond);
}

TEST(Pool, AChangeHoldsFromItsMomentOn) {
  EXPECT_FALSE(spot_capacity(sample_pool(), 9.99 * kSecond).has_value());
  EXPECT_EQ(spot_capacity(sample_pool(), 10 * kSecond), 4);
  EXPECT_EQ(spot_capacity(sample_pool(), 29 * kSecond), 1);
  EXPECT_EQ(spot_price_factor(sample_pool(), 9 * kSecond), 1);
  EXPECT_EQ(spot_price_factor(sample_pool(), 25 * kSecond), 2);
  EXPECT_EQ(spot_price_factor(sample_pool(), 1000 * kSecond), 0.5);
}

// From 5 to 40 s: 5 s at factor 1, 20 s at 2 and 10 s at 1/2 are 5 + 40 + 5 = 50 s.
TEST(Pool, TimeIsWeightedByThePriceOfEachPiece) {
  EXPECT_NEAR(priced_time(sample_pool(), 5 * kSecond, 40 * kSecond).in(kSecond), 50, 1e-12);
  EXPECT_NEAR(priced_time(sample_pool(), 12 * kSecond, 15 * kSecond).in(kSecond), 6, 1e-12);
  EXPECT_NEAR(priced_time(sample_pool(), 31 * kSecond, 35 * kSecond).in(kSecond), 2, 1e-12);
  EXPECT_EQ(priced_time(sample_pool(), 35 * kSecond, 31 * kSecond), Seconds{});
}

TEST(Pool, PartsOfTheTimeAddUpToTheWhole) {
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const Seconds from = 40 * random.uniform() * kSecond;
    const Seconds middle = from + 20 * random.uniform() * kSecond;
    const Seconds to = middle + 20 * random.uniform() * kSecond;
    const Seconds parts =
        priced_time(sample_pool(), from, middle) + priced_time(sample_pool(), middle, to);
    EXPECT_NEAR(parts.in(kSecond), priced_time(sample_pool(), from, to).in(kSecond), 1e-12);
  }
}

TEST(Pool, IsReadFromATable) {
  const auto pool =
      read_pool("at_s,spot,price_factor,unannounced\n0,4,,\n2.5,1,1.5,true\n", "pool.csv");
  ASSERT_TRUE(pool.ok()) << pool.error().message;
  ASSERT_EQ(pool->size(), 2U);
  EXPECT_EQ((*pool)[0].spot, 4);
  EXPECT_FALSE((*pool)[0].price_factor.has_value());
  EXPECT_FALSE((*pool)[0].unannounced);
  EXPECT_EQ((*pool)[1].at, 2.5 * kSecond);
  EXPECT_EQ((*pool)[1].price_factor, 1.5);
  EXPECT_TRUE((*pool)[1].unannounced);
  EXPECT_TRUE(read_pool("at_s,spot\n", "pool.csv")->empty());
}

TEST(Pool, ATableThatMakesNoSenseIsBadInput) {
  for (const char* text :
       {"", "at_s\n1\n", "at_s,spot\nx,1\n", "at_s,spot\n-1,1\n", "at_s,spot\nnan,1\n",
        "at_s,spot\n1,-1\n", "at_s,spot\n1,1.5\n", "at_s,spot\n1,\n", "at_s,spot\n2,1\n1,1\n",
        "at_s,spot\n1,1\n1,2\n", "at_s,spot,price_factor\n1,1,0\n",
        "at_s,spot,price_factor\n1,1,inf\n", "at_s,spot,unannounced\n1,1,yes\n"}) {
    const auto pool = read_pool(text, "pool.csv");
    ASSERT_FALSE(pool.ok()) << text;
    EXPECT_EQ(pool.error().kind, ErrorKind::kBadInput) << text;
    EXPECT_NE(pool.error().message.find("pool.csv"), std::string::npos) << pool.error().message;
  }
}

TEST(PoolFrom, BeginsAsThePoolIsByThen) {
  const std::vector<PoolChange> pool = {{.at = 1 * kSecond, .spot = 4, .price_factor = 2},
                                        {.at = 5 * kSecond, .spot = 2},
                                        {.at = 9 * kSecond, .spot = 3}};
  const std::vector<PoolChange> later = pool_from(pool, 6 * kSecond);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[0].at, Seconds{});
  EXPECT_EQ(later[0].spot, 2);
  EXPECT_EQ(later[0].price_factor, 2);  // The factor of the first change still holds.
  EXPECT_EQ(later[1].at, 3 * kSecond);
  EXPECT_EQ(pool_from(pool, Seconds{}).size(), 3U);
}

VmType type_of(const char* provider, const char* name, double mbit) {
  VmType type{.provider = provider, .name = name};
  if (mbit > 0) type.network = Network{.baseline = mbit * kMbit / kSecond};
  type.offers = {{.region = "local",
                  .on_demand = Price{.rate = 0.10 * kDollar / kHour, .source = "s"},
                  .spot = Price{.rate = 0.03 * kDollar / kHour, .source = "s"}}};
  return type;
}

Catalog sample_catalog() {
  return {.types = {type_of("local", "local.small", 100), type_of("local", "local.fast", 1000),
                    type_of("local", "local.dark", 0), type_of("aws", "p3.2xlarge", 10000)}};
}

Result<ClusterSpec> spec_of(const char* text, const char* name = "a") {
  const auto cluster = parse_cluster(text);
  EXPECT_TRUE(cluster.ok());
  return cluster_spec(*cluster, sample_catalog(), name);
}

TEST(ClusterSpec, NumbersTheVmsInTheOrderOfTheText) {
  const auto spec = spec_of("2x local.small + 1x local.fast:spot");
  ASSERT_TRUE(spec.ok());
  ASSERT_EQ(spec->vms.size(), 3U);
  EXPECT_EQ(spec->vms[2].name, "vm3");
  EXPECT_EQ(spec->vms[2].type, "local.fast");
  EXPECT_EQ(spec->vms[2].market, Market::kSpot);
  EXPECT_NEAR(spec->vms[2].price.in(kDollar / kHour), 0.03, 1e-12);
  EXPECT_NEAR(spec->vms[0].network.in(kMbit / kSecond), 100, 1e-9);
}

TEST(ClusterSpec, RefusesWhatCannotBeEmulated) {
  for (const char* text : {"2x local.huge", "p3.2xlarge", "local.dark", "65x local.small"}) {
    const auto spec = spec_of(text);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_EQ(spec.error().kind, ErrorKind::kUsage);
  }
  EXPECT_NE(spec_of("p3.2xlarge").error().message.find("machine of aws"), std::string::npos);
}

TEST(ClusterSpec, RefusesNamesThatAreNoFolder) {
  for (const char* name : {"", "..", "a/b", "-x", "a b", "123456789012345678901234567890123"}) {
    EXPECT_FALSE(check_cluster_name(name).ok()) << name;
  }
  EXPECT_TRUE(check_cluster_name("my-cluster_2").ok());
}

// 4 × 1 Gbit/s is the limit; 5 are beyond it, and 17 are more than the 16 that are accepted.
TEST(ClusterSpec, WarnsOutsideTheHonestLimitAndRefusesFarOutside) {
  EXPECT_EQ(*traffic_warning(*spec_of("4x local.fast")), "");
  EXPECT_NE(traffic_warning(*spec_of("5x local.fast"))->find("add up to 5 Gbit/s"),
            std::string::npos);
  EXPECT_FALSE(traffic_warning(*spec_of("17x local.fast")).ok());
}

}  // namespace

}  // namespace stint
