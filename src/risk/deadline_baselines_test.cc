#include "risk/deadline_baselines.h"

#include <gtest/gtest.h>

#include "risk/deadline_fixture.h"

namespace stint {
namespace {

TEST(DeadlineBaselines, GreedyGoesOnDemandAtTheLastSafeMoment) {
  const DeadlineGame game{.work = 4, .deadline = 9, .changeover = 1, .price_ratio = 3};
  Greedy greedy;
  const std::vector<int> trace = {1, 1, 0, 0, 0, 0, 0, 1, 1};
  // Spot for two ticks does one part. The three others need four ticks on demand, so it waits
  // until tick 5, and stays although spot comes back.
  const GameResult result = play(game, {}, trace, greedy);
  EXPECT_EQ(result.finished, 9);
  EXPECT_EQ(result.spot_ticks, 2);
  EXPECT_EQ(result.on_demand_ticks, 4);
}

// Work 4 of 16 ticks: the pace is a quarter. Without spot it waits at tick 0 (0 ≥ 0) and is behind
// at tick 1. It keeps the machine until the progress is (t + 2)/4: set-up in tick 1, then done
// 1 ≥ (3 + 2)/4? no; 2 ≥ (4 + 2)/4 yes. It waits until tick 9, when 2 < 9/4.
TEST(DeadlineBaselines, UniformProgressKeepsThePace) {
  const DeadlineGame game{.work = 4, .deadline = 16, .changeover = 1, .price_ratio = 3};
  UniformProgress policy;
  GameState state{.parts_left = 4};
  policy.begin(game, {});
  std::vector<int> held;
  for (; state.parts_left > 0; ++state.tick) {
    const Holding choice = policy.choose(state);
    state.on_demand.hold(choice.on_demand, 1);
    state.parts_left -= state.on_demand.pass();
    held.push_back(choice.on_demand);
  }
  EXPECT_EQ(held, std::vector<int>({0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1}));
}

TEST(DeadlineBaselines, UniformProgressLeavesOnDemandForSpotOnlyWhenItIsAhead) {
  const DeadlineGame game{.work = 10, .deadline = 40, .changeover = 1, .price_ratio = 3};
  UniformProgress policy;
  policy.begin(game, {});
  GameState state{.tick = 8, .parts_left = 8, .available = 1};
  state.on_demand.hold(1, 0);
  // Two done at tick 8 is on the pace of a quarter, not two changeovers ahead: (8 + 2)/4.
  EXPECT_EQ(policy.choose(state), (Holding{0, 1}));
  state.parts_left = 7;
  EXPECT_EQ(policy.choose(state), (Holding{1, 0}));
}

TEST(DeadlineBaselines, UniformProgressEndsOnDemandForGood) {
  const DeadlineGame game{.work = 4, .deadline = 8, .changeover = 1, .price_ratio = 3};
  UniformProgress policy;
  const std::vector<int> trace(8, 0);
  EXPECT_TRUE(play(game, {}, trace, policy).finished);
}

TEST(DeadlineBaselines, ThoseThatWatchTheDeadlineKeepIt) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 12, 1 + random.below(4));
    game.deadline += game.changeover;  // Uniform Progress looks two changeovers ahead.
    const std::vector<int> trace = random_trace(random, game.deadline, game.machines);
    Greedy greedy;
    UniformProgress uniform;
    OnDemandOnly on_demand;
    for (DeadlinePolicy* policy :
         {static_cast<DeadlinePolicy*>(&greedy), static_cast<DeadlinePolicy*>(&uniform),
          static_cast<DeadlinePolicy*>(&on_demand)}) {
      EXPECT_TRUE(play(game, {}, trace, *policy).finished) << seed;
    }
  }
}

}  // namespace
}  // namespace stint
