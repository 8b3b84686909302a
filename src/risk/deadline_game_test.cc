#include "risk/deadline_game.h"

#include <gtest/gtest.h>

#include "risk/deadline_baselines.h"

namespace stint {
namespace {

TEST(DeadlineGame, NewMachinesArePaidBeforeTheyGetAnythingDone) {
  const DeadlineGame game{.work = 3, .deadline = 9, .changeover = 2, .price_ratio = 3};
  OnDemandOnly policy;
  const std::vector<int> none(9, 0);
  const GameResult result = play(game, {}, none, policy);
  // Two ticks of set-up and three of work, at three each.
  EXPECT_DOUBLE_EQ(result.cost, 15);
  EXPECT_EQ(result.finished, 5);
  EXPECT_EQ(result.set_up_ticks, 2);
}

TEST(DeadlineGame, LostMachinesAreSetUpAgainAndKeepWhatIsDone) {
  const DeadlineGame game{.work = 2, .deadline = 9, .changeover = 1, .price_ratio = 3};
  SpotOnly policy;
  // Set-up, work, nothing there, set-up, work.
  const std::vector<int> trace = {1, 1, 0, 1, 1, 1, 1, 1, 1};
  const GameResult result = play(game, {}, trace, policy);
  EXPECT_DOUBLE_EQ(result.cost, 4);
  EXPECT_EQ(result.finished, 5);
}

TEST(DeadlineGame, MachinesOfAClusterAreSetUpOneByOne) {
  const DeadlineGame game{
      .work = 2, .deadline = 9, .changeover = 1, .machines = 2, .price_ratio = 3};
  SpotOnly policy;
  // Parts done: 0, 1 (the second is set up), 2, 1: four.
  const std::vector<int> trace = {1, 2, 2, 1, 0, 0, 0, 0, 0};
  const GameResult result = play(game, {}, trace, policy);
  EXPECT_DOUBLE_EQ(result.cost, 6);
  EXPECT_EQ(result.finished, 4);
}

TEST(DeadlineGame, AMissedDeadlineHasNoTickItWasFinishedAt) {
  const DeadlineGame game{.work = 2, .deadline = 3, .changeover = 0, .price_ratio = 3};
  SpotOnly policy;
  const std::vector<int> trace = {0, 1, 0};
  const GameResult result = play(game, {}, trace, policy);
  EXPECT_FALSE(result.finished);
  EXPECT_DOUBLE_EQ(result.cost, 1);
}

TEST(DeadlineGame, KnowsHowLongOnDemandTakes) {
  const DeadlineGame game{.work = 4, .deadline = 20, .changeover = 3, .machines = 2};
  Fleet none;
  // Two machines set up for three ticks, then eight parts in four.
  EXPECT_EQ(on_demand_ticks(game, none, 8), 7);
  Fleet one;
  one.hold(1, 0);
  // One is ready: after five ticks it has done five, the other two.
  EXPECT_EQ(on_demand_ticks(game, one, 7), 5);
  // What one does alone in three ticks needs no other.
  EXPECT_EQ(on_demand_ticks(game, one, 3), 3);
  EXPECT_EQ(on_demand_ticks(game, one, 0), 0);
}

TEST(DeadlineGame, AChoiceIsSafeWhenOnDemandCanStillFinish) {
  const DeadlineGame game{.work = 4, .deadline = 7, .changeover = 2, .price_ratio = 3};
  GameState state{.tick = 0, .parts_left = 4, .available = 1};
  // After a tick of waiting, six are left for two of set-up and four of work.
  EXPECT_TRUE(is_safe(game, state, {0, 0}));
  state.tick = 1;
  EXPECT_FALSE(is_safe(game, state, {0, 0}));
  EXPECT_FALSE(is_safe(game, state, {1, 0}));  // It is set up in that tick, and lost.
  EXPECT_TRUE(is_safe(game, state, {0, 1}));
  state.spot.hold(1, 0);
  EXPECT_TRUE(is_safe(game, state, {1, 0}));  // Ready: one part is done before it is lost.
}

}  // namespace
}  // namespace stint
