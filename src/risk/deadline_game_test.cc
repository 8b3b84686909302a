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
  // One machine can do this part alone in three ticks.
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
  EXPECT_FALSE(is_safe(game, state, {1, 0}));  // The machine is set up in that tick, and lost.
  EXPECT_TRUE(is_safe(game, state, {0, 1}));
  state.spot.hold(1, 0);
  EXPECT_TRUE(is_safe(game, state, {1, 0}));  // Ready: one part is done before it is lost.
}

TEST(DeadlineGame, KeepsWhatWasHeldAndDoneInEachTick) {
  const DeadlineGame game{.work = 1, .deadline = 4, .changeover = 1, .price_ratio = 3};
  SpotOnly policy;
  const GameResult result = play(game, {}, std::vector<int>{0, 1, 1, 1}, policy);
  // No machine, set-up, work.
  ASSERT_EQ(result.ticks.size(), 3U);
  EXPECT_EQ(result.ticks[0].held, Holding{});
  EXPECT_EQ(result.ticks[1].held, (Holding{1, 0}));
  EXPECT_EQ(result.ticks[1].working, Holding{});
  EXPECT_EQ(result.ticks[2].working, (Holding{1, 0}));
}

TEST(DeadlineGame, StartsNoNewOnDemandMachineInARefusedTick) {
  const DeadlineGame game{
      .work = 2, .deadline = 9, .changeover = 1, .machines = 2, .price_ratio = 3};
  OnDemandOnly policy;
  const std::vector<int> none(9, 0);
  // Refused at first, then set-up, then held through refusals: two ticks of two machines.
  const GameResult result = play(game, {}, none, policy, {true, true, false, true, true, true});
  EXPECT_EQ(result.ticks[1].held, Holding{});
  EXPECT_EQ(result.ticks[3].held, (Holding{0, 2}));
  EXPECT_EQ(result.finished, 5);
  EXPECT_EQ(result.overdue, 0);
  EXPECT_DOUBLE_EQ(result.cost, 3 * 2 * 3);
}

TEST(DeadlineGame, ARefusedMachineTakesNothingFromThoseHeld) {
  const DeadlineGame game{
      .work = 4, .deadline = 9, .changeover = 0, .machines = 2, .price_ratio = 3};
  UniformProgress policy;  // Fills up what spot does not give when it is behind.
  const std::vector<int> trace(9, 1);
  const GameResult result = play(game, {}, trace, policy, std::vector<bool>(9, true));
  // One spot machine does one of eight parts in each tick.
  for (std::size_t i = 0; i < 8 && i < result.ticks.size(); ++i) {
    EXPECT_LE(result.ticks[i].held.spot, 1);
    EXPECT_EQ(result.ticks[i].held.on_demand, 0);
  }
}

TEST(DeadlineGame, SaysHowMuchLaterTheRestIsDoneOnDemand) {
  const DeadlineGame game{.work = 3, .deadline = 4, .changeover = 1, .price_ratio = 3};
  SpotOnly spot;
  const std::vector<int> trace = {1, 1, 0, 0};
  // One part was done; two are left, after a tick of set-up.
  EXPECT_EQ(play(game, {}, trace, spot).overdue, 3);
  // The first tick after the deadline is refused, too.
  EXPECT_EQ(play(game, {}, trace, spot, std::vector<bool>(5, true)).overdue, 4);
  OnDemandOnly on_demand;
  // It starts a tick late: nothing, set-up, two parts, and the third after the deadline.
  const GameResult late = play(game, {}, trace, on_demand, {true});
  EXPECT_FALSE(late.finished);
  EXPECT_EQ(late.overdue, 1);
}

TEST(HalfAsFull, StaysWhileItHasHalfOfTheFullest) {
  const std::vector<int> counts{2, 4, 1};
  EXPECT_EQ(half_as_full(counts, 0), 0);
  EXPECT_EQ(half_as_full(counts, 2), 1);
  EXPECT_EQ(half_as_full(std::vector<int>{0, 0}, 1), 1);
}

// Two ticks in the first zone, of which one is set-up; then the second zone is available instead.
TEST(Play, MovesToAnotherZoneForANewSetUp) {
  const DeadlineGame game{.work = 3, .deadline = 8, .changeover = 1, .price_ratio = 3};
  const std::vector<int> first{1, 1, 0, 0, 0, 0, 0, 0};
  const std::vector<int> second{0, 0, 1, 1, 1, 1, 1, 1};
  SpotOnly policy;
  const GameResult result = play(game, ZoneTicks(2), {first, second}, policy);
  EXPECT_EQ(result.finished, 5);
  EXPECT_EQ(result.moves, 1);
  EXPECT_EQ(result.set_up_ticks, 2);
  EXPECT_EQ(result.ticks[2].zone, 1);
}

/// Three machines on demand for two ticks, then a spot machine of another zone beside two of them.
class MovesWithoutNeed : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& /*game*/, std::span<const int> /*past*/) override {}
  int choose_zone(const GameState& state, std::span<const int> /*counts*/) override {
    return state.tick < 2 ? 0 : 1;
  }
  Holding choose(const GameState& state) override {
    return state.tick < 2 ? Holding{0, 3} : Holding{1, 2};
  }
};

// All are in one zone: the two on-demand machines are set up again.
TEST(Play, LeavesOnDemandMachinesForSpotOfAnotherZone) {
  const DeadlineGame game{
      .work = 3, .deadline = 6, .changeover = 1, .machines = 3, .price_ratio = 3};
  const std::vector<int> none(6, 0);
  const std::vector<int> one(6, 1);
  MovesWithoutNeed policy;
  const GameResult result = play(game, ZoneTicks(2), {none, one}, policy);
  EXPECT_EQ(result.ticks[1].working, (Holding{0, 3}));
  EXPECT_EQ(result.ticks[2].working, (Holding{0, 0}));
  EXPECT_EQ(result.ticks[3].working, (Holding{1, 2}));
  EXPECT_EQ(result.finished, 5);
}

}  // namespace
}  // namespace stint
