#include "risk/deadline_baselines.h"

#include <gtest/gtest.h>
#include <limits>

#include "risk/deadline_fixture.h"

namespace stint {
namespace {

/// Tries every holding in every zone at every tick, by the rules of the game itself.
double cheapest(const DeadlineGame& game, const ZoneTicks& available, const GameState& state) {
  if (state.parts_left <= 0) return 0;
  if (state.tick == game.deadline) return std::numeric_limits<double>::infinity();
  double best = std::numeric_limits<double>::infinity();
  for (int zone = 0; zone < static_cast<int>(available.size()); ++zone) {
    const auto& ticks = available[static_cast<std::size_t>(zone)];
    const int there = std::min(ticks[static_cast<std::size_t>(state.tick)], game.machines);
    for (int spot = 0; spot <= there; ++spot) {
      for (int on_demand = 0; spot + on_demand <= game.machines; ++on_demand) {
        GameState next = state;
        if (zone != state.zone) next.spot = {};
        next.zone = zone;
        if (spot > 0 && next.on_demand_zone != zone) next.on_demand = {};
        if (next.on_demand.count() == 0) next.on_demand_zone = zone;
        next.spot.hold(std::min(next.spot.count(), there), game.changeover);
        next.spot.hold(spot, game.changeover);
        next.on_demand.hold(on_demand, game.changeover);
        next.parts_left -= next.spot.pass() + next.on_demand.pass();
        ++next.tick;
        const double price = spot + game.price_ratio * on_demand;
        best = std::min(best, price + cheapest(game, available, next));
      }
    }
  }
  return best;
}

void expect_same(double ours, double tried, std::uint64_t seed) {
  if (tried < std::numeric_limits<double>::infinity()) {
    EXPECT_NEAR(ours, tried, 1e-9) << seed;
  } else {
    EXPECT_EQ(ours, tried) << seed;
  }
}

/// This many zones in spells of random length.
std::vector<std::vector<int>> random_zones(Random& random, int zones, const DeadlineGame& game) {
  std::vector<std::vector<int>> all;
  for (int z = 0; z < zones; ++z) {
    all.push_back(random_trace(random, game.deadline, game.machines));
  }
  return all;
}

TEST(DeadlineOptimum, EqualsTryingEverythingWithOneMachine) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 4, 1);
    game.deadline = std::min(game.deadline, 9);
    const std::vector<int> trace = random_trace(random, game.deadline, 1);
    const GameState start{.parts_left = game.parts()};
    EXPECT_NEAR(cheapest_in_hindsight(game, {trace}), cheapest(game, {trace}, start), 1e-9) << seed;
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
    const double tried = cheapest(game, {trace}, start);
    const double ours = cheapest_in_hindsight(game, {trace});
    expect_same(ours, tried, seed);
  }
}

TEST(DeadlineOptimum, EqualsTryingEverythingWithOneMachineInTwoZones) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 4, 1);
    game.deadline = std::min(game.deadline, 7);
    const auto zones = random_zones(random, 2, game);
    const ZoneTicks ticks(zones.begin(), zones.end());
    const GameState start{.parts_left = game.parts()};
    const double tried = cheapest(game, ticks, start);
    const double ours = cheapest_in_hindsight(game, ticks);
    expect_same(ours, tried, seed);
  }
}

TEST(DeadlineOptimum, IsABoundWithSeveralMachinesInTwoZones) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 3, 2);
    game.deadline = std::min(game.deadline, 4);
    const auto zones = random_zones(random, 2, game);
    const ZoneTicks ticks(zones.begin(), zones.end());
    const GameState start{.parts_left = game.parts()};
    const double tried = cheapest(game, ticks, start);
    EXPECT_LE(cheapest_in_hindsight(game, ticks), tried + 1e-9) << seed;
  }
}

TEST(DeadlineOptimum, NoPolicyThatKeepsTheDeadlineIsCheaper) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 15, 1 + random.below(3));
    const std::vector<int> trace = random_trace(random, game.deadline, game.machines);
    const double least = cheapest_in_hindsight(game, {trace});
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

TEST(DeadlineBaselines, GreedyGoesOnDemandAtTheLastSafeMoment) {
  const DeadlineGame game{.work = 4, .deadline = 9, .changeover = 1, .price_ratio = 3};
  Greedy greedy;
  const std::vector<int> trace = {1, 1, 0, 0, 0, 0, 0, 1, 1};
  // Spot for two ticks does one part. The three others need four ticks on demand, so that the
  // policy waits until tick 5, and stays although spot is available again.
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
