#include "cloud/pool.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

std::vector<PoolChange> sample() {
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
  EXPECT_FALSE(spot_capacity(sample(), 9.99 * kSecond).has_value());
  EXPECT_EQ(spot_capacity(sample(), 10 * kSecond), 4);
  EXPECT_EQ(spot_capacity(sample(), 29 * kSecond), 1);
  EXPECT_EQ(spot_price_factor(sample(), 9 * kSecond), 1);
  EXPECT_EQ(spot_price_factor(sample(), 25 * kSecond), 2);
  EXPECT_EQ(spot_price_factor(sample(), 1000 * kSecond), 0.5);
}

// From 5 to 40 s: 5 s once, 20 s twice and 10 s half are 5 + 40 + 5 = 50 s.
TEST(Pool, TimeIsWeightedByThePriceOfEachPiece) {
  EXPECT_NEAR(priced_time(sample(), 5 * kSecond, 40 * kSecond).in(kSecond), 50, 1e-12);
  EXPECT_NEAR(priced_time(sample(), 12 * kSecond, 15 * kSecond).in(kSecond), 6, 1e-12);
  EXPECT_NEAR(priced_time(sample(), 31 * kSecond, 35 * kSecond).in(kSecond), 2, 1e-12);
  EXPECT_EQ(priced_time(sample(), 35 * kSecond, 31 * kSecond), Seconds{});
}

TEST(Pool, PartsOfTheTimeAddUpToTheWhole) {
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const Seconds from = 40 * random.uniform() * kSecond;
    const Seconds middle = from + 20 * random.uniform() * kSecond;
    const Seconds to = middle + 20 * random.uniform() * kSecond;
    const Seconds parts = priced_time(sample(), from, middle) + priced_time(sample(), middle, to);
    EXPECT_NEAR(parts.in(kSecond), priced_time(sample(), from, to).in(kSecond), 1e-12);
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
  EXPECT_EQ(later[0].price_factor, 2);  // That of the first change still holds.
  EXPECT_EQ(later[1].at, 3 * kSecond);
  EXPECT_EQ(pool_from(pool, Seconds{}).size(), 3U);
}

}  // namespace
}  // namespace stint
