#include "simulate/deadline_replay.h"

#include <gtest/gtest.h>

#include "simulate/synthetic_pool.h"

namespace stint {
namespace {

ReplayPool always_there(int ticks) {
  const DeadlineGame game{.work = 4, .deadline = 8, .changeover = 1, .price_ratio = 3};
  return {.game = game,
          .gap = 5 * kMinute,
          .zones = {std::vector<int>(static_cast<std::size_t>(ticks), 1)},
          .prior = learned_prior(game, 5 * kMinute, {})};
}

// 17 ticks hold windows of 8 that begin at 0, 4 and 8; the next would end at 20.
TEST(DeadlineReplay, WindowsAreThoseThatFit) {
  EXPECT_EQ(window_starts(always_there(17), 4), (std::vector<int>{0, 4, 8}));
  EXPECT_EQ(window_starts(always_there(8), 4), (std::vector<int>{0}));
  EXPECT_TRUE(window_starts(always_there(7), 4).empty());
}

// Spot that is always there: 1 tick of set-up and 4 of work. On demand the same at three each.
TEST(DeadlineReplay, EveryonePlaysTheSameWindow) {
  const ReplayPool pool = always_there(16);
  EXPECT_DOUBLE_EQ(play_window(pool, 8, Player::kOptimum).cost, 5);
  EXPECT_DOUBLE_EQ(play_window(pool, 8, Player::kSpot).cost, 5);
  EXPECT_DOUBLE_EQ(play_window(pool, 8, Player::kOnDemand).cost, 15);
  const std::vector<ReplayPool> pools{pool};
  const std::vector<ReplayWindow> windows{{0, 0}, {0, 8}};
  const auto scores = score_windows(replay(pools, windows));
  EXPECT_EQ(scores.size(), 6U);  // No one is informed.
  EXPECT_DOUBLE_EQ(scores.at("optimum").cost_ratio_to_optimum, 1);
  EXPECT_DOUBLE_EQ(scores.at("on-demand").cost_ratio_to_optimum, 3);
  EXPECT_DOUBLE_EQ(scores.at("greedy").cost_ratio_to_on_demand, 1.0 / 3);
  EXPECT_FALSE(scores.at("stint").refused.has_value());
}

// Two windows that cost 10 and 20 where 10 and 10 would do, 40 on demand; one is missed.
TEST(DeadlineReplay, ScoresAreMeansOfRatios) {
  std::vector<WindowOutcome> outcomes(2);
  for (WindowOutcome& outcome : outcomes) {
    outcome.games[Player::kOptimum] = {.cost = 10};
    outcome.games[Player::kOnDemand] = {.cost = 40};
  }
  outcomes[0].games[Player::kStint] = {.cost = 10};
  outcomes[1].games[Player::kStint] = {.cost = 20, .missed = true};
  const DeadlineScore score = score_windows(outcomes).at("stint");
  EXPECT_DOUBLE_EQ(score.cost_ratio_to_optimum, 1.5);
  EXPECT_DOUBLE_EQ(score.cost_ratio_to_on_demand, 0.375);
  EXPECT_DOUBLE_EQ(score.worst_ratio_to_optimum, 2);
  EXPECT_EQ(score.missed, 1);
}

// No spot, and on demand refused for four of eight ticks: set-up and 3 of 4 parts until the
// deadline, and one tick more.
TEST(DeadlineReplay, RefusalsArePlayedBesideAndScored) {
  ReplayPool pool = always_there(8);
  pool.zones = {std::vector<int>(8, 0)};
  pool.refused = {true, true, true, true};
  const std::vector<ReplayPool> pools{pool};
  const std::vector<ReplayWindow> windows{{0, 0}};
  const auto scores = score_windows(replay(pools, windows));
  EXPECT_EQ(scores.at("on-demand").missed, 0);
  ASSERT_TRUE(scores.at("on-demand").refused.has_value());
  EXPECT_EQ(scores.at("on-demand").refused->missed, 1);
  // It would have finished after five ticks.
  EXPECT_EQ(scores.at("on-demand").refused->slip_mean, 20 * kMinute);
  EXPECT_EQ(scores.at("on-demand").refused->slip_max, 20 * kMinute);
  EXPECT_EQ(scores.at("on-demand").refused->late_max, 5 * kMinute);
  EXPECT_FALSE(scores.at("optimum").refused.has_value());
}

TEST(DeadlineReplay, WhoIsInformedPlaysWhereThereIsALaw) {
  const SyntheticPool steady = synthetic_pool(PoolKind::kSteady, Random(1), 5 * kMinute, 600);
  const DeadlineGame game{.work = 72, .deadline = 90, .changeover = 3, .price_ratio = 3.3};
  const std::vector<ReplayPool> pools{{.game = game,
                                       .gap = steady.gap,
                                       .zones = {steady.counts},
                                       .prior = learned_prior(game, steady.gap, {}),
                                       .law = law_of(steady, game.deadline)}};
  const std::vector<ReplayWindow> windows{{0, 0}, {0, 300}};
  const auto scores = score_windows(replay(pools, windows));
  EXPECT_GE(scores.at("informed").cost_ratio_to_optimum, 1);
  EXPECT_EQ(scores.at("informed").missed, 0);
}

// Counts of other pools change the estimate for a cluster; its machines determine which estimate.
TEST(DeadlineReplay, LearnsFromOthersForOneMachineAndForSeveral) {
  DeadlineGame game{.work = 4, .deadline = 8, .changeover = 1, .price_ratio = 3};
  EXPECT_TRUE(std::holds_alternative<PoolBelief>(learned_prior(game, kMinute, {{0, 1, 0, 1}})));
  game.machines = 2;
  const PoolPrior taught = learned_prior(game, kMinute, {{0, 2, 0, 2, 0, 2}});
  const PoolPrior fresh = learned_prior(game, kMinute, {});
  ASSERT_TRUE(std::holds_alternative<CountBelief>(taught));
  EXPECT_GT(std::get<CountBelief>(taught).model().probability(0, 2),
            std::get<CountBelief>(fresh).model().probability(0, 2));
}

}  // namespace
}  // namespace stint
