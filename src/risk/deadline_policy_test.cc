#include "risk/deadline_policy.h"

#include <cmath>
#include <gtest/gtest.h>

#include "risk/deadline_baselines.h"
#include "risk/deadline_fixture.h"

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

// The trace is generated during the game: a spot machine is lost in the tick in which it would
// first make progress.
TEST(LearnedPolicy, NeverMissesADeadlineAgainstAnAdversary) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 40, 1);
    LearnedPolicy policy = fresh(game);
    const auto available = [](bool ready) { return ready ? 0 : 1; };
    EXPECT_LE(left_by_adversary(game, policy, available), 0) << seed;
  }
}

// Pools of spells of a few hours; all policies see the same windows.
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
    const double least = cheapest_in_hindsight(game, {all.subspan(600)});
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

/// Spells of a few hours in each of some zones.
std::vector<std::vector<int>> spells_of(Random& random, int zones, std::size_t ticks) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(zones));
  for (std::vector<int>& zone : all) {
    for (int up = random.below(2); zone.size() < ticks; up = 1 - up) {
      const double spell = 6 * std::exp(1.2 * random.normal());
      zone.insert(zone.end(), static_cast<std::size_t>(1 + spell), up);
    }
    zone.resize(ticks);
  }
  return all;
}

// The adversary of the zones: a spot machine is lost where it would first make progress.
TEST(LearnedPolicy, NeverMissesADeadlineInZonesAgainstAnAdversary) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 40, 1);
    LearnedPolicy policy = fresh(game);
    policy.begin_zones(game, ZoneTicks(3));
    GameState state{.parts_left = game.work};
    for (; state.tick < game.deadline && state.parts_left > 0; ++state.tick) {
      std::vector<int> counts{random.below(2), random.below(2), random.below(2)};
      const bool ready = state.spot.count() > 0 && state.spot.left()[0] == 0;
      const auto here = static_cast<std::size_t>(state.zone);
      counts[here] = ready ? 0 : counts[here];
      state.spot.hold(std::min(state.spot.count(), counts[here]), game.changeover);
      const int zone = policy.choose_zone(state, counts);
      if (zone != state.zone) state.spot = {};
      state.zone = zone;
      state.available = counts[static_cast<std::size_t>(zone)];
      play_tick(game, policy, state);
    }
    EXPECT_LE(state.parts_left, 0) << seed;
  }
}

TEST(LearnedPolicy, CostsLessInThreeZonesThanInOneAndThanOthersInThree) {
  const DeadlineGame game{.work = 72, .deadline = 90, .changeover = 2, .price_ratio = 3.3};
  double ours = 0;
  double one_zone = 0;
  double greedy_cost = 0;
  double uniform_cost = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const auto zones = spells_of(random, 3, 900);
    ZoneTicks past;
    ZoneTicks window;
    for (const std::span<const int> zone : zones) {
      past.push_back(zone.first(600));
      window.push_back(zone.subspan(600));
    }
    LearnedPolicy policy = fresh(game);
    Greedy greedy;
    UniformProgress uniform;
    const GameResult result = play(game, past, window, policy);
    EXPECT_TRUE(result.finished) << seed;
    EXPECT_GE(result.cost, cheapest_in_hindsight(game, window) - 1e-9) << seed;
    ours += result.cost;
    one_zone += play(game, past[0], window[0], policy).cost;
    greedy_cost += play(game, past, window, greedy).cost;
    uniform_cost += play(game, past, window, uniform).cost;
  }
  EXPECT_LT(ours, 0.8 * one_zone);
  EXPECT_LE(ours, greedy_cost);
  EXPECT_LT(ours, uniform_cost);
}

// Both zones are up; one has always been back after a tick, the other has always stayed.
TEST(LearnedPolicy, TakesTheZoneThatIsExpectedToLast) {
  const DeadlineGame game{.work = 20, .deadline = 40, .changeover = 1, .price_ratio = 3};
  std::vector<int> flapping;
  for (int i = 0; i < 300; ++i) flapping.push_back(i % 3 == 0 ? 0 : 1);
  std::vector<int> calm(300, 1);
  calm[298] = 0;
  LearnedPolicy policy = fresh(game);
  policy.begin_zones(game, {flapping, calm});
  const GameState state{.parts_left = game.work};
  const std::vector<int> both{1, 1};
  EXPECT_EQ(policy.choose_zone(state, both), 1);
}

// Knowing the law is cheaper on average than learning it, over many windows.
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

// Without phases the law's table gives the mean cost of the game; 400 games are near it.
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
