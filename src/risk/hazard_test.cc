#include "risk/hazard.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace stint {
namespace {

Lifetime lost(double hours) {
  return {.provider = "p", .at_least = hours * kHour, .at_most = hours * kHour};
}
Lifetime alive(double hours) { return {.provider = "p", .at_least = hours * kHour, .at_most = {}}; }

// Five machines: lost at 1 h (1 of 5 → 0.8), unwatched from 2 h, two lost at 3 h (2 of 3 left →
// 0.8/3 = 0.2667), the last one watched until 5 h.
std::vector<Lifetime> five() { return {lost(1), alive(2), lost(3), lost(3), alive(5)}; }

TEST(KaplanMeier, MatchesAHandComputedCase) {
  const KaplanMeier curve(five());
  EXPECT_EQ(curve.machines(), 5);
  EXPECT_EQ(curve.losses(), 3);
  EXPECT_DOUBLE_EQ(curve.at(0.5 * kHour)->share, 1);
  EXPECT_DOUBLE_EQ(curve.at(1 * kHour)->share, 0.8);
  EXPECT_DOUBLE_EQ(curve.at(2.9 * kHour)->share, 0.8);
  EXPECT_DOUBLE_EQ(curve.at(3 * kHour)->share, 0.8 / 3);
  EXPECT_DOUBLE_EQ(curve.at(5 * kHour)->share, 0.8 / 3);
  EXPECT_FALSE(curve.at(5.1 * kHour).has_value());
}

// Greenwood's sum at 3 h is 1/(5·4) + 2/(3·1) = 0.71667, its root 0.84656; log S = −1.32176, so the
// width is 1.95996·0.84656/1.32176 = 1.25532 and the interval S^exp(±1.25532).
TEST(KaplanMeier, HasGreenwoodsInterval) {
  const auto share = KaplanMeier(five()).at(3 * kHour);
  EXPECT_NEAR(share->low, std::exp(-1.32176 * std::exp(1.25532)), 1e-4);
  EXPECT_NEAR(share->high, std::exp(-1.32176 * std::exp(-1.25532)), 1e-4);
}

TEST(KaplanMeier, TakesALossBetweenTwoProbesInTheMiddle) {
  const std::vector<Lifetime> lifetimes{
      {.provider = "p", .at_least = 1 * kHour, .at_most = 2 * kHour}, alive(4)};
  EXPECT_DOUBLE_EQ(KaplanMeier(lifetimes).at(1.49 * kHour)->share, 1);
  EXPECT_DOUBLE_EQ(KaplanMeier(lifetimes).at(1.5 * kHour)->share, 0.5);
}

TEST(KaplanMeier, KnowsTheEndOfTheLastMachineAndSkipsRowsThatSayNothing) {
  const std::vector<Lifetime> lifetimes{lost(1), lost(2), alive(0)};
  const KaplanMeier curve(lifetimes);
  EXPECT_EQ(curve.machines(), 2);
  EXPECT_DOUBLE_EQ(curve.at(9 * kHour)->share, 0);
  EXPECT_FALSE(KaplanMeier({}).at(1 * kHour).has_value());
}

PerSecond per_hour(double losses) { return losses / kHour; }

// A tenth of the machines an hour at first, none from the second hour to the third, then two.
Hazard bathtub() {
  return Hazard({{Seconds(), per_hour(0.1)}, {2 * kHour, per_hour(0)}, {3 * kHour, per_hour(2)}});
}

TEST(Hazard, IntegratesItsSteps) {
  EXPECT_DOUBLE_EQ(bathtub().cumulative(Seconds()), 0);
  EXPECT_DOUBLE_EQ(bathtub().cumulative(1 * kHour), 0.1);
  EXPECT_DOUBLE_EQ(bathtub().cumulative(2.5 * kHour), 0.2);
  EXPECT_DOUBLE_EQ(bathtub().cumulative(4 * kHour), 2.2);
  EXPECT_DOUBLE_EQ(bathtub().survival(4 * kHour), std::exp(-2.2));
  EXPECT_DOUBLE_EQ(bathtub().survival_from(1 * kHour, 1 * kHour), std::exp(-0.1));
  EXPECT_DOUBLE_EQ(bathtub().rate(2 * kHour).in(1 / kHour), 0);
  EXPECT_DOUBLE_EQ(bathtub().rate(9 * kHour).in(1 / kHour), 2);
}

TEST(Hazard, TellsTheAgeAtWhichSoMuchRateHasGathered) {
  for (const double amount : {0.0, 0.05, 0.2, 0.7, 2.2}) {
    EXPECT_NEAR(bathtub().cumulative(bathtub().age_at(amount)), amount, 1e-12) << amount;
  }
  EXPECT_EQ(Hazard::constant(PerSecond()).age_at(0.1),
            std::numeric_limits<double>::infinity() * kSecond);
}

// A constant rate r lives (1 − e^(−rt))/r until t.
TEST(Hazard, KnowsTheMeanLifetime) {
  EXPECT_NEAR(Hazard::constant(per_hour(0.5)).mean_until(4 * kHour).in(kHour),
              2 * (1 - std::exp(-2)), 1e-12);
  EXPECT_DOUBLE_EQ(Hazard::constant(PerSecond()).mean_until(4 * kHour).in(kHour), 4);
  const double first = (1 - std::exp(-0.2)) / 0.1;
  const double rest = std::exp(-0.2) * (1 + (1 - std::exp(-2)) / 2);
  EXPECT_NEAR(bathtub().mean_until(4 * kHour).in(kHour), first + rest, 1e-12);
}

}  // namespace

}  // namespace stint
