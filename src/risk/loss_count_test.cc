#include "risk/loss_count.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

/// The same counted in random histories of one place.
double counted(const Hazard& hazard, const Vacancy& vacancy, Seconds time, int histories) {
  Random random(7);
  int losses = 0;
  for (int i = 0; i < histories; ++i) {
    Seconds now = hazard.age_at(random.exponential());
    while (now < time) {
      ++losses;
      if (random.uniform() < vacancy.share) now += random.exponential() * vacancy.mean;
      now += hazard.age_at(random.exponential());
    }
  }
  return static_cast<double>(losses) / histories;
}

// Two losses an hour.
TEST(LossCount, OfAConstantHazardIsThePoisson) {
  const LossCount count(Hazard::constant(2 / kHour), {});
  EXPECT_DOUBLE_EQ(count.in(3 * kHour), 6);
  EXPECT_DOUBLE_EQ(count.rate_min().in(1 / kHour), 2);
}

// A loss per hour, and half an hour of vacancy after each: in the long run 2/3 of a loss per hour.
// In a short time the place is not vacant yet.
TEST(LossCount, VacantPlacesLoseNothing) {
  const LossCount count(Hazard::constant(1 / kHour), {.share = 1, .mean = 0.5 * kHour});
  EXPECT_NEAR(count.in(1000 * kHour), 1000 * 2.0 / 3, 0.5);
  EXPECT_NEAR(count.in(1 * kMinute) * 60, 1, 0.01);
}

// Three losses an hour in the first hour, then one in twenty.
TEST(LossCount, YoungDeathsAndAgeingAreAsCounted) {
  const Hazard young({{Seconds{}, 3 / kHour}, {1 * kHour, 0.05 / kHour}});
  const Hazard old({{Seconds{}, 0.01 / kHour}, {20 * kHour, 1 / kHour}});
  for (const Vacancy vacancy : {Vacancy{}, Vacancy{.share = 0.5, .mean = 1.6 * kHour}}) {
    for (const Hazard& hazard : {young, old}) {
      const LossCount count(hazard, vacancy);
      for (const double hours : {0.3, 2.0, 11.0, 100.0}) {
        constexpr int kHistories = 40'000;
        const double expected = counted(hazard, vacancy, hours * kHour, kHistories);
        // Three standard errors beside the error of the grid; losses vary less than Poisson's.
        const double tolerance = 0.03 + 3 / std::sqrt(expected * kHistories);
        EXPECT_NEAR(count.in(hours * kHour) / expected, 1, tolerance) << hours;
      }
    }
  }
}

// One step of the same rate as the other is a constant hazard in the form of the grid.
TEST(LossCount, OnTheGridIsAsExactAsItSays) {
  const Vacancy vacancy{.share = 0.5, .mean = 1.6 * kHour};
  const LossCount exact(Hazard::constant(0.3 / kHour), vacancy);
  const LossCount grid(Hazard({{Seconds{}, 0.3 / kHour}, {1 * kHour, 0.3 / kHour}}), vacancy);
  for (double hours = 0.01; hours < 1e4; hours *= 1.7) {
    EXPECT_NEAR(grid.in(hours * kHour) / exact.in(hours * kHour), 1, 0.01) << hours;
  }
}

TEST(LossCount, RisesAndIsNeverBelowItsLeastRate) {
  const LossCount count(Hazard({{Seconds{}, 3 / kHour}, {1 * kHour, 0.05 / kHour}}), {});
  double before = 0;
  for (double hours = 0.01; hours < 1e4; hours *= 1.3) {
    const double now = count.in(hours * kHour);
    EXPECT_GE(now, before);
    EXPECT_GE(now, count.rate_min() * (hours * kHour) * (1 - 1e-9));
    before = now;
  }
}

TEST(LossCount, ComparesAtAllTimes) {
  const LossCount calm(Hazard::constant(0.05 / kHour), {});
  const LossCount young(Hazard({{Seconds{}, 3 / kHour}, {1 * kHour, 0.04 / kHour}}), {});
  EXPECT_TRUE(calm.never_more(calm));
  EXPECT_TRUE(calm.never_more(LossCount(Hazard::constant(0.06 / kHour), {})));
  EXPECT_FALSE(young.never_more(calm));
  EXPECT_FALSE(LossCount(Hazard::constant(0.06 / kHour), {}).never_more(calm));
}

}  // namespace
}  // namespace stint
