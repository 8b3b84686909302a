#include "risk/cluster_policy.h"

#include <gtest/gtest.h>

#include "risk/deadline_baselines.h"
#include "risk/deadline_fixture.h"

namespace stint {
namespace {

TEST(ClusterPolicy, NeverMissesADeadlineThatCanBeKept) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 15, 2 + random.below(5));
    const std::vector<int> trace = random_trace(random, 60 + game.deadline, game.machines);
    const std::span<const int> all = trace;
    ClusterPolicy policy{CountBelief(game.machines)};
    EXPECT_TRUE(play(game, all.first(60), all.subspan(60), policy).finished) << seed;
  }
}

TEST(ClusterPolicy, NeverMissesADeadlineAgainstAnAdversary) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 15, 4);
    ClusterPolicy policy{CountBelief(game.machines)};
    const auto available = [&](bool ready) {
      return ready ? random.below(2) : 1 + random.below(game.machines);
    };
    EXPECT_LE(left_by_adversary(game, policy, available), 0) << seed;
  }
}

// Three of four machines are always available, the fourth hardly ever: with a deadline that three
// cannot keep alone, one on-demand machine is cheaper than four.
TEST(ClusterPolicy, FillsUpInsteadOfLeavingSpot) {
  const DeadlineGame game{
      .work = 60, .deadline = 70, .changeover = 1, .machines = 4, .price_ratio = 3};
  const std::vector<int> trace(270, 3);
  const std::span<const int> all = trace;
  ClusterPolicy policy{CountBelief(4)};
  Greedy greedy;
  const GameResult ours = play(game, all.first(200), all.subspan(200), policy);
  EXPECT_TRUE(ours.finished);
  EXPECT_LT(ours.cost, play(game, all.first(200), all.subspan(200), greedy).cost);
}

TEST(ClusterPolicy, NeverMissesADeadlineInZones) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 15, 2 + random.below(5));
    std::vector<std::vector<int>> zones;
    for (int z = 0; z < 3; ++z) {
      zones.push_back(random_trace(random, 60 + game.deadline, game.machines));
    }
    ZoneTicks past;
    ZoneTicks window;
    for (const std::span<const int> zone : zones) {
      past.push_back(zone.first(60));
      window.push_back(zone.subspan(60));
    }
    ClusterPolicy policy{CountBelief(game.machines)};
    EXPECT_TRUE(play(game, past, window, policy).finished) << seed;
  }
}

// The first zone has one machine left of four, for long; the second has them all.
TEST(ClusterPolicy, MovesWhereThereAreMore) {
  const DeadlineGame game{
      .work = 30, .deadline = 60, .changeover = 2, .machines = 4, .price_ratio = 3};
  std::vector<int> first(260, 4);
  std::fill(first.begin() + 210, first.end(), 1);
  const std::vector<int> second(260, 4);
  const std::span<const int> a = first;
  const std::span<const int> b = second;
  ClusterPolicy policy{CountBelief(4)};
  const GameResult result =
      play(game, {a.first(200), b.first(200)}, {a.subspan(200), b.subspan(200)}, policy);
  EXPECT_EQ(result.moves, 1);
  EXPECT_EQ(result.on_demand_ticks, 0);
}

TEST(ClusterPolicy, GoesOnWhenOnDemandIsRefused) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const DeadlineGame game = random_game(random, 15, 2 + random.below(5));
    const std::vector<int> trace = random_trace(random, game.deadline, game.machines);
    std::vector<bool> refused;
    for (int i = 0; i < game.deadline; ++i) refused.push_back(random.below(2) == 0);
    ClusterPolicy policy{CountBelief(game.machines)};
    const GameResult result = play(game, {}, trace, policy, refused);
    EXPECT_EQ(result.finished.has_value(), result.overdue == 0) << seed;
  }
}

}  // namespace
}  // namespace stint
