#include "risk/pool_model.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

TEST(PoolModel, PhasesBeginAtEveryTickAndThenEverLessOften) {
  const std::vector<int> ages = phase_ages(20);
  EXPECT_EQ(ages, std::vector<int>({0, 1, 2, 3, 4, 5, 7, 9, 12, 17}));
  const std::vector<SpellPhase> phases = {{0, 0.5}, {1, 0.4}, {4, 0.3}};
  EXPECT_EQ(phase_at(phases, 0), 0);
  EXPECT_EQ(phase_at(phases, 3), 1);
  EXPECT_EQ(phase_at(phases, 4), 2);
  EXPECT_EQ(phase_at(phases, 400), 2);
}

TEST(PoolBelief, FollowsTheAgeOfTheSpell) {
  PoolBelief belief(5 * kMinute, 100);
  for (const bool up : {true, true, false, false, false}) belief.see(up);
  EXPECT_FALSE(belief.is_up());
  EXPECT_EQ(belief.age(), 2);
}

// Spells of at least one tick that end with probability 0.2 and 0.05 per tick: after two weeks the
// estimate is close, at every age that was observed often.
TEST(PoolBelief, LearnsHowOftenSpellsEnd) {
  PoolBelief belief(5 * kMinute, 400);
  Random random(3);
  bool up = true;
  for (int tick = 0; tick < 14 * 288; ++tick) {
    belief.see(up);
    if (random.uniform() < (up ? 0.05 : 0.2)) up = !up;
  }
  const PoolModel model = belief.model();
  double up_error = 0;
  double down_error = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    up_error += std::abs(std::log(model.up[i].leave / 0.05)) / 6;
    down_error += std::abs(std::log(model.down[i].leave / 0.2)) / 6;
  }
  EXPECT_LT(up_error, 0.35);
  EXPECT_LT(down_error, 0.35);
}

// Heavy-tailed: a spell that has lasted long lasts longer.
TEST(PoolBelief, TakesOldSpellsToLastLongerBeforeAnythingIsSeen) {
  const PoolModel model = PoolBelief(5 * kMinute, 400).model();
  EXPECT_GT(model.up[4].leave, model.up.back().leave);
  EXPECT_GT(model.down[4].leave, model.down.back().leave);
  for (const SpellPhase& phase : model.up) {
    EXPECT_GT(phase.leave, 0);
    EXPECT_LT(phase.leave, 1);
  }
}

TEST(PoolBelief, BelievesAnotherPoolALittle) {
  std::vector<int> flapping;
  for (int i = 0; i < 2000; ++i) flapping.push_back(i % 2);
  PoolBelief alone(5 * kMinute, 400);
  PoolBelief taught = alone;
  taught.learn_from(flapping, 1);
  EXPECT_GT(taught.model().up[0].leave, alone.model().up[0].leave);
  // A few days of the pool itself weigh more.
  for (int i = 0; i < 500; ++i) {
    alone.see(true);
    taught.see(true);
  }
  EXPECT_LT(taught.model().up.back().leave, 0.01);
}

TEST(PoolBelief, ForgetsWhatIsLongAgo) {
  PoolBelief belief(5 * kMinute, 400);
  for (int i = 0; i < 1000; ++i) belief.see(i % 2 == 0);
  const double before = belief.spells();
  for (int i = 0; i < 10 * 288; ++i) belief.see(true);
  EXPECT_LT(belief.spells(), before / 16);  // Five half-lives.
}

// With p each tick the spell goes on for (1 − p) / p ticks; in a first phase of one tick it goes on
// surely and has the second before it.
TEST(TicksToGo, AddsUpThePhases) {
  EXPECT_NEAR(ticks_to_go(std::vector<SpellPhase>{{0, 0.25}})[0], 3, 1e-12);
  const std::vector<double> two = ticks_to_go(std::vector<SpellPhase>{{0, 1e-9}, {1, 0.5}});
  EXPECT_NEAR(two[1], 1, 1e-6);
  EXPECT_NEAR(two[0], 2, 1e-6);
}

}  // namespace
}  // namespace stint
