#include "risk/deadline_policy.h"

#include <cmath>
#include <gtest/gtest.h>

#include "risk/deadline_baselines.h"
#include "risk/deadline_fixture.h"
#include "risk/deadline_optimum.h"

namespace stint {
namespace {

LearnedPolicy fresh(const DeadlineGame& game) {
  return LearnedPolicy(PoolBelief(5 * kMinute, game.deadline));
}

TEST(LearnedPolicy, NeverMissesADeadlineThatCanBeKept) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 40, 1);
    const std::vector<int> trace = random_trace(random, 200 + game.deadline, 1);
    const std::span<const int> all = trace;
    LearnedPolicy policy = fresh(game);
    EXPECT_TRUE(play(game, all.first(200), all.subspan(200), policy).finished) << seed;
  }
}

// The trace is made as the game goes: a spot machine is lost in the tick in which it would first
// get something done.
TEST(LearnedPolicy, NeverMissesADeadlineAgainstAnAdversary) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 40, 1);
    LearnedPolicy policy = fresh(game);
    policy.begin(game, {});
    GameState state{.parts_left = game.work};
    for (; state.tick < game.deadline && state.parts_left > 0; ++state.tick) {
      const bool ready = state.spot.count() > 0 && state.spot.left()[0] == 0;
      state.available = ready ? 0 : 1;
      state.spot.hold(std::min(state.spot.count(), state.available), game.changeover);
      const Holding choice = policy.choose(state);
      state.spot.hold(choice.spot, game.changeover);
      state.on_demand.hold(choice.on_demand, game.changeover);
      state.parts_left -= state.spot.pass() + state.on_demand.pass();
    }
    EXPECT_LE(state.parts_left, 0) << seed;
  }
}

// Pools of spells of a few hours; everyone plays the same windows.
TEST(LearnedPolicy, CostsLessThanGreedyAndUniformProgress) {
  const DeadlineGame game{.work = 72, .deadline = 90, .changeover = 2, .price_ratio = 3.3};
  double ours = 0;
  double greedy_cost = 0;
  double uniform_cost = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    std::vector<int> trace;
    for (int up = 0; trace.size() < 900; up = 1 - up) {
      const double ticks = 6 * std::exp(1.4 * random.normal());
      trace.insert(trace.end(), static_cast<std::size_t>(1 + ticks), up);
    }
    const std::span<const int> all = trace;
    LearnedPolicy policy = fresh(game);
    Greedy greedy;
    UniformProgress uniform;
    const double least = cheapest_in_hindsight(game, all.subspan(600));
    ours += play(game, all.first(600), all.subspan(600), policy).cost / least;
    greedy_cost += play(game, all.first(600), all.subspan(600), greedy).cost / least;
    uniform_cost += play(game, all.first(600), all.subspan(600), uniform).cost / least;
  }
  EXPECT_LT(ours, greedy_cost);
  EXPECT_LT(ours, uniform_cost);
}

TEST(LearnedPolicy, DoesItsBestWhenTheDeadlineIsOutOfReach) {
  const DeadlineGame game{.work = 10, .deadline = 5, .changeover = 1, .price_ratio = 3};
  LearnedPolicy policy = fresh(game);
  const std::vector<int> trace(5, 0);
  const GameResult result = play(game, {}, trace, policy);
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.on_demand_ticks, 5);
}

// What is cheap on average for someone who knows the law is cheaper than what must be learnt, over
// many windows.
TEST(InformedPolicy, KeepsDeadlinesAndCostsNoMoreThanGreedy) {
  const PoolModel law{.up = {{0, 0.1}}, .down = {{0, 0.15}}};
  const DeadlineGame game{.work = 40, .deadline = 55, .changeover = 2, .price_ratio = 3.3};
  double informed_cost = 0;
  double greedy_cost = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<int> trace;
    for (int up = 1; trace.size() < 55;) {
      trace.push_back(up);
      if (random.uniform() < (up == 1 ? 0.1 : 0.15)) up = 1 - up;
    }
    InformedPolicy informed(law);
    Greedy greedy;
    const GameResult result = play(game, {}, trace, informed);
    EXPECT_TRUE(result.finished) << seed;
    informed_cost += result.cost;
    greedy_cost += play(game, {}, trace, greedy).cost;
  }
  EXPECT_LT(informed_cost, greedy_cost);
}

// Without phases the law's table says what the game costs on average; 400 games come near it.
TEST(InformedPolicy, CostsWhatItsTableSays) {
  const PoolModel law{.up = {{0, 0.2}}, .down = {{0, 0.2}}};
  const DeadlineGame game{.work = 12, .deadline = 20, .changeover = 1, .price_ratio = 3};
  double cost = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    std::vector<int> trace;
    for (int up = 1; trace.size() < 20;) {
      trace.push_back(up);
      if (random.uniform() < 0.2) up = 1 - up;
    }
    InformedPolicy informed(law);
    cost += play(game, {}, trace, informed).cost / 400;
  }
  EXPECT_NEAR(cost / DeadlineTable(game, law).value(true), 1, 0.05);
}

TEST(LearnedPolicy, GoesOnWhenOnDemandIsRefused) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 40, 1);
    const std::vector<int> trace = random_trace(random, game.deadline, 1);
    std::vector<bool> refused;
    for (int i = 0; i < game.deadline; ++i) refused.push_back(random.below(2) == 0);
    LearnedPolicy policy = fresh(game);
    const GameResult result = play(game, {}, trace, policy, refused);
    EXPECT_EQ(result.finished.has_value(), result.overdue == 0) << seed;
  }
}

}  // namespace
}  // namespace stint
