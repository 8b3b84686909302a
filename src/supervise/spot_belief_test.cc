#include "supervise/spot_belief.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

const std::optional<SpotSpells> kSpells = SpotSpells{.stay = 40 * kSecond, .away = 10 * kSecond};

CountBelief belief_of(const std::optional<SpotSpells>& expected, int places) {
  return spot_belief(expected, 1 * kSecond, places);
}

// 500 ticks in which one machine stayed, beside 20 of a prior with losses in 5 % of them: the loss
// probability is 20 · 0.05 / 520 = 0.2 %.
TEST(SpotBelief, WithoutExpectationsMachinesStay) {
  const CountModel model = belief_of({}, 1).model();
  EXPECT_NEAR(model.probability(1, 0), 0.0019, 0.0002);
}

// A machine is lost in 2.5 % of the ticks and replaced in 10 %; an estimate from 500 ticks, with
// the machine up in four of five, knows these to about a fifth and two fifths.
TEST(SpotBelief, FollowsTheExpectedSpells) {
  const CountModel model = belief_of(kSpells, 1).model();
  EXPECT_NEAR(model.probability(1, 0), 0.025, 0.006);
  EXPECT_NEAR(model.probability(0, 1), 0.1, 0.04);
}

TEST(SpotBelief, IsTheSameEachTime) {
  EXPECT_EQ(belief_of(kSpells, 3).model().next, belief_of(kSpells, 3).model().next);
}

}  // namespace
}  // namespace stint
