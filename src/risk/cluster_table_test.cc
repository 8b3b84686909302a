#include "risk/cluster_table.h"

#include <cmath>
#include <gtest/gtest.h>

#include "risk/deadline_fixture.h"

namespace stint {
namespace {

CountModel random_counts(Random& random, int machines) {
  CountModel model{machines, {}};
  for (int now = 0; now <= machines; ++now) {
    std::vector<double> row;
    double sum = 0;
    for (int then = 0; then <= machines; ++then) {
      row.push_back(random.uniform(0.05, 1));
      sum += row.back();
    }
    for (const double weight : row) model.next.push_back(weight / sum);
  }
  return model;
}

/// The least expected cost of the reduced moves, by trying every one and following every count.
/// Without set-up, and with work that the grid holds exactly, the table leaves nothing out.
double expected_cost(const DeadlineGame& game, const CountModel& pool, int tick, int parts,
                     int available, const Holding& before) {
  if (parts <= 0) return 0;
  if (tick == game.deadline) return 1e30;
  double best = 1e30;
  for (const ClusterMove move : {ClusterMove::kWait, ClusterMove::kSpot, ClusterMove::kFill,
                                 ClusterMove::kFillBeside, ClusterMove::kAllOnDemand}) {
    const Holding held = holding_of(game, move, available, before.on_demand);
    double cost = held.spot + game.price_ratio * held.on_demand;
    for (int then = 0; then <= game.machines; ++then) {
      cost += pool.probability(available, then) *
              expected_cost(game, pool, tick + 1, parts - held.spot - held.on_demand, then, held);
    }
    best = std::min(best, cost);
  }
  return best;
}

TEST(ClusterTable, EqualsTryingEverythingWhereTheGridIsExact) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    // One machine makes whole ticks of progress.
    DeadlineGame game = random_game(random, 3, 1);
    game.changeover = 0;
    game.deadline = std::min(game.deadline, 5);
    const CountModel pool = random_counts(random, 1);
    const ClusterTable table(game, pool);
    for (int available = 0; available <= 1; ++available) {
      const double tried = expected_cost(game, pool, 0, game.parts(), available, {});
      EXPECT_NEAR(table.value(available), tried, 1e-4 * tried) << seed;
    }
  }
}

TEST(ClusterTable, HoldsWhatTheMovesSay) {
  const DeadlineGame game{.machines = 8};
  EXPECT_EQ(holding_of(game, ClusterMove::kWait, 5, 2), (Holding{0, 0}));
  EXPECT_EQ(holding_of(game, ClusterMove::kSpot, 5, 2), (Holding{5, 0}));
  EXPECT_EQ(holding_of(game, ClusterMove::kFill, 7, 2), (Holding{7, 1}));
  EXPECT_EQ(holding_of(game, ClusterMove::kFillBeside, 7, 2), (Holding{6, 2}));
  EXPECT_EQ(holding_of(game, ClusterMove::kFillBeside, 3, 2), (Holding{3, 5}));
  EXPECT_EQ(holding_of(game, ClusterMove::kAllOnDemand, 3, 2), (Holding{0, 8}));
}

// A pool that is always full is used alone: 10 ticks of work and 2 of set-up, of 4 machines.
TEST(ClusterTable, UsesAPoolThatIsAlwaysThere) {
  const DeadlineGame game{
      .work = 10, .deadline = 30, .changeover = 2, .machines = 4, .price_ratio = 3};
  CountModel pool{4, std::vector<double>(25, 0.0)};
  for (int now = 0; now <= 4; ++now) pool.next[static_cast<std::size_t>(now * 5 + 4)] = 1;
  EXPECT_NEAR(ClusterTable(game, pool).value(4), 48, 0.01);
}

// Twenty ticks of work within fifty-eight, a set-up of five, and spot machines that are hardly ever
// lost: the cost of a loss at the very beginning must not rule them out.
TEST(ClusterTable, BeginsOnSpotThoughASetUpTakesSeveralTicks) {
  CountBelief belief(2);
  belief.learn_from(std::vector<int>(1000, 2), 500);
  const DeadlineGame game{
      .work = 20, .deadline = 58, .changeover = 5, .machines = 2, .price_ratio = 3.33};
  const ClusterTable table(game, belief.model());
  EXPECT_EQ(holding_of(game, table.move(58, 40, 2, {}), 2, 0), (Holding{2, 0}));
}

TEST(CountBelief, LearnsHowTheCountMoves) {
  CountBelief belief(3);
  for (int i = 0; i < 1000; ++i) belief.see(i % 4 == 3 ? 9 : 1);  // Nine are seen as three.
  const CountModel model = belief.model();
  EXPECT_NEAR(model.probability(1, 3), 1.0 / 3, 0.03);
  EXPECT_GT(model.probability(3, 1), 0.9);
  for (int now = 0; now <= 3; ++now) {
    double sum = 0;
    for (int then = 0; then <= 3; ++then) sum += model.probability(now, then);
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(CountBelief, BelievesAnotherPoolALittle) {
  std::vector<int> other;
  for (int i = 0; i < 1000; ++i) other.push_back(i % 2);
  CountBelief belief(1);
  const double alone = belief.model().probability(0, 1);
  belief.learn_from(other, 50);
  EXPECT_GT(belief.model().probability(0, 1), alone);
  EXPECT_LT(belief.model().probability(0, 1), 0.7);
}

// One machine that is lost with 0.5 and never returns: 1 + 0.5 + 0.25 in three ticks.
TEST(MachineTicks, AddsUpWhatIsExpected) {
  const CountModel model{.machines = 1, .next = {1, 0, 0.5, 0.5}};
  const std::vector<double> sum = machine_ticks(model, 3);
  EXPECT_DOUBLE_EQ(sum[0], 0);
  EXPECT_DOUBLE_EQ(sum[1], 1.75);
}

// 65,536 counts squared overflow an int.
TEST(CountModel, CellsOfManyMachinesAreFarApart) {
  const CountModel model{65'535, {}};
  EXPECT_EQ(model.cell(65'535, 65'535), 4'294'967'295U);
}

// Two machines: 3 counts, 6 states, and work from 0 to 31 ticks and one beyond.
TEST(ClusterTable, CountsItsCellsBeforeItIsMade) {
  DeadlineGame game{.work = 10, .deadline = 31, .changeover = 1, .machines = 2, .price_ratio = 3};
  EXPECT_EQ(cluster_table_cells(game), 3 * 6 * 33);
  game.machines = 65'535;
  EXPECT_GT(cluster_table_cells(game), kClusterTableCellsMax);
}

}  // namespace
}  // namespace stint
