#include "risk/survival.h"

#include <cmath>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stint
