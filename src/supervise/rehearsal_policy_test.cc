#include "supervise/rehearsal_policy.h"

#include <gtest/gtest.h>

#include "risk/cluster_policy.h"

namespace stint {
namespace {

const DeadlineGame kGame{
    .work = 10, .deadline = 30, .changeover = 1, .machines = 2, .price_ratio = 3};

// Before anything is learnt both know the same.
TEST(RehearsalPolicy, BeginsAsTheClusterPolicyDoes) {
  RehearsalTables tables(CountBelief(2).model());
  for (int available = 0; available <= 2; ++available) {
    ClusterPolicy learns{CountBelief(2)};
    const auto rehearses = tables.policy();
    learns.begin(kGame, {});
    rehearses->begin(kGame, {});
    const GameState state{.parts_left = kGame.parts(), .available = available};
    EXPECT_EQ(rehearses->choose(state), learns.choose(state)) << available;
  }
}

TEST(RehearsalPolicy, SolvesAGameOnce) {
  RehearsalTables tables(CountBelief(2).model());
  for (int i = 0; i < 3; ++i) tables.policy()->begin(kGame, {});
  EXPECT_EQ(tables.solved(), 1U);
  DeadlineGame longer = kGame;
  longer.deadline = 31;
  tables.policy()->begin(longer, {});
  EXPECT_EQ(tables.solved(), 2U);
}

// Eleven ticks are left for ten of work and one of set-up.
TEST(RehearsalPolicy, BuysWhenNothingElseIsSafe) {
  RehearsalTables tables(CountBelief(2).model());
  const auto policy = tables.policy();
  policy->begin(kGame, {});
  const GameState state{.tick = 19, .parts_left = 20, .available = 2};
  EXPECT_EQ(policy->choose(state), (Holding{.spot = 0, .on_demand = 2}));
}

}  // namespace
}  // namespace stint
