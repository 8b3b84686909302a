#include "simulate/synthetic_pool.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <utility>

namespace stint {
namespace {

constexpr Seconds kGap = 5 * kMinute;

SyntheticPool pool_of(PoolKind kind, std::uint64_t seed, int ticks = 4032) {
  return synthetic_pool(kind, Random(seed), kGap, ticks);
}

TEST(SyntheticPool, IsTheSameForTheSameSeed) {
  for (const auto& [kind, name] : names_of(PoolKind{})) {
    EXPECT_EQ(pool_of(kind, 3).counts, pool_of(kind, 3).counts) << name;
    EXPECT_NE(pool_of(kind, 3).counts, pool_of(kind, 4).counts) << name;
  }
}

TEST(SyntheticPool, HasSpellsOfBothKindsAndAsManyTicksAsAsked) {
  for (const auto& [kind, name] : names_of(PoolKind{})) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const SyntheticPool pool = pool_of(kind, seed);
      ASSERT_EQ(pool.counts.size(), 4032U) << name << seed;
      EXPECT_EQ(*std::min_element(pool.counts.begin(), pool.counts.end()), 0) << name << seed;
      EXPECT_EQ(*std::max_element(pool.counts.begin(), pool.counts.end()), 1) << name << seed;
    }
  }
}

// The mean of a log-normal is median · exp(spread² / 2).
TEST(SyntheticPool, KeepsTheBoundsOfItsLaw) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SyntheticPool pool = pool_of(PoolKind::kSteady, seed, 12);
    const auto mean = [](const SpellLaw& law) {
      return std::exp(law.spread * law.spread / 2) * law.median;
    };
    EXPECT_GE(mean(pool.up), 0.799 * kHour);
    EXPECT_LE(mean(pool.up), 4.401 * kHour);
    EXPECT_GE(mean(pool.down), 0.499 * kHour);
    EXPECT_LE(mean(pool.down), 5.001 * kHour);
    EXPECT_GE(mean(pool.up) / pool.up.median, 1.299);
    const double available = mean(pool.up) / (mean(pool.up) + mean(pool.down));
    EXPECT_GE(available, 0.149);
    EXPECT_LE(available, 0.901);
  }
}

// Over years of ticks the law's probabilities of the first ages are met.
TEST(SyntheticPool, ASteadyPoolFollowsItsLaw) {
  const SyntheticPool pool = pool_of(PoolKind::kSteady, 1, 1'000'000);
  const PoolModel law = law_of(pool, 400);
  constexpr std::size_t kAges = 4;
  std::vector<double> ticks(kAges, 0);
  std::vector<double> ends(kAges, 0);
  int age = 0;
  for (std::size_t i = 1; i < pool.counts.size(); ++i) {
    const bool end = pool.counts[i] != pool.counts[i - 1];
    if (pool.counts[i - 1] == 1 && age < static_cast<int>(kAges)) {
      ++ticks[static_cast<std::size_t>(age)];
      if (end) ++ends[static_cast<std::size_t>(age)];
    }
    age = end ? 0 : age + 1;
  }
  for (std::size_t i = 0; i < kAges; ++i) {
    EXPECT_EQ(law.up[i].age, static_cast<int>(i));
    EXPECT_NEAR(ends[i] / ticks[i], law.up[i].leave, 0.01) << i;
  }
}

// Spells of 2.7 to 3.3 medians: the longest up-spell is at most 1.3 times the shortest, give or
// take the rounding to ticks.
TEST(SyntheticPool, ClockworkIsNearlyPeriodic) {
  const SyntheticPool pool = pool_of(PoolKind::kClockwork, 2);
  std::vector<int> spells;
  int length = 0;
  for (const int count : pool.counts) {
    if (count == 1) ++length;
    if (count == 0 && length > 0) spells.push_back(std::exchange(length, 0));
  }
  const auto [shortest, longest] = std::minmax_element(spells.begin() + 1, spells.end());
  EXPECT_LE(*longest - 1, 1.3 * (*shortest + 1));
}

// If they were independent, all would be down for the product of their shares.
TEST(SyntheticZones, AreGoneTogetherMoreOftenThanByChance) {
  double product = 0;
  double together = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto zones = synthetic_zones(PoolKind::kSteady, 2, Random(seed), kGap, 4032);
    ASSERT_EQ(zones.size(), 2U);
    const auto gone = [&](std::size_t z) {
      const auto& counts = zones[z].counts;
      return static_cast<double>(std::count(counts.begin(), counts.end(), 0)) / 4032;
    };
    product += gone(0) * gone(1);
    for (std::size_t i = 0; i < 4032; ++i) {
      if (zones[0].counts[i] + zones[1].counts[i] == 0) together += 1.0 / 4032;
    }
  }
  EXPECT_GT(together, 1.04 * product);
}

TEST(SyntheticZones, OneIsAPool) {
  EXPECT_EQ(synthetic_zones(PoolKind::kSteady, 1, Random(5), kGap, 400)[0].counts,
            pool_of(PoolKind::kSteady, 5, 400).counts);
}

}  // namespace
}  // namespace stint
