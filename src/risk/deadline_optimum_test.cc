#include "risk/deadline_optimum.h"

#include <gtest/gtest.h>
#include <limits>

#include "risk/deadline_baselines.h"
#include "risk/deadline_fixture.h"

namespace stint {
namespace {

/// Tries every holding at every tick, by the rules of the game itself.
double cheapest(const DeadlineGame& game, std::span<const int> available, const GameState& state) {
  if (state.parts_left <= 0) return 0;
  if (state.tick == game.deadline) return std::numeric_limits<double>::infinity();
  const int there = std::min(available[static_cast<std::size_t>(state.tick)], game.machines);
  double best = std::numeric_limits<double>::infinity();
  for (int spot = 0; spot <= there; ++spot) {
    for (int on_demand = 0; spot + on_demand <= game.machines; ++on_demand) {
      GameState next = state;
      next.spot.hold(std::min(next.spot.count(), there), game.changeover);
      next.spot.hold(spot, game.changeover);
      next.on_demand.hold(on_demand, game.changeover);
      next.parts_left -= next.spot.pass() + next.on_demand.pass();
      ++next.tick;
      best = std::min(best, spot + game.price_ratio * on_demand + cheapest(game, available, next));
    }
  }
  return best;
}

TEST(DeadlineOptimum, EqualsTryingEverythingWithOneMachine) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 4, 1);
    game.deadline = std::min(game.deadline, 9);
    const std::vector<int> trace = random_trace(random, game.deadline, 1);
    const GameState start{.parts_left = game.parts()};
    EXPECT_NEAR(cheapest_in_hindsight(game, trace), cheapest(game, trace, start), 1e-9) << seed;
  }
}

TEST(DeadlineOptimum, EqualsTryingEverythingWithSeveral) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const int machines = 2 + static_cast<int>(seed % 2);
    DeadlineGame game = random_game(random, 3, machines);
    game.deadline = std::min(game.deadline, machines == 2 ? 6 : 5);
    const std::vector<int> trace = random_trace(random, game.deadline, machines);
    const GameState start{.parts_left = game.parts()};
    const double tried = cheapest(game, trace, start);
    const double ours = cheapest_in_hindsight(game, trace);
    if (tried < std::numeric_limits<double>::infinity()) {
      EXPECT_NEAR(ours, tried, 1e-9) << seed;
    } else {
      EXPECT_EQ(ours, tried) << seed;
    }
  }
}

TEST(DeadlineOptimum, NoPolicyThatKeepsTheDeadlineIsCheaper) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 15, 1 + random.below(3));
    const std::vector<int> trace = random_trace(random, game.deadline, game.machines);
    const double least = cheapest_in_hindsight(game, trace);
    Greedy greedy;
    SpotOnly spot;
    for (DeadlinePolicy* policy :
         {static_cast<DeadlinePolicy*>(&greedy), static_cast<DeadlinePolicy*>(&spot)}) {
      const GameResult result = play(game, {}, trace, *policy);
      if (!result.finished) continue;
      EXPECT_GE(result.cost, least - 1e-9) << seed;
    }
  }
}

}  // namespace
}  // namespace stint
