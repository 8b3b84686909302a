#include "risk/deadline_table.h"

#include <gtest/gtest.h>

#include "risk/deadline_fixture.h"

namespace stint {
namespace {

struct Spell {
  bool up = false;
  std::size_t phase = 0;
};

/// The least expected cost, by trying every move and following every transition of the pool, with
/// the rules of the game itself.
double expected_cost(const DeadlineGame& game, const PoolModel& pool, const GameState& state,
                     const Spell& spell);

double after_move(const DeadlineGame& game, const PoolModel& pool, GameState state,
                  const Spell& spell, const Holding& choice) {
  state.spot.hold(choice.spot, game.changeover);
  state.on_demand.hold(choice.on_demand, game.changeover);
  state.parts_left -= state.spot.pass() + state.on_demand.pass();
  ++state.tick;
  const auto& phases = spell.up ? pool.up : pool.down;
  const double leave = phases[spell.phase].leave;
  const bool last = spell.phase + 1 == phases.size();
  const double step = last ? 0 : 1.0 / (phases[spell.phase + 1].age - phases[spell.phase].age);
  double cost = choice.spot + game.price_ratio * choice.on_demand;
  if (state.parts_left <= 0) return cost;
  const double stands_in = spell.up ? leave * pool.stand_in : 0;
  cost += (leave - stands_in) * expected_cost(game, pool, state, {!spell.up, 0});
  if (stands_in > 0) {
    GameState lost = state;
    lost.spot = {};
    cost += stands_in * expected_cost(game, pool, lost, {true, 0});
  }
  if (step < 1) {
    cost += (1 - leave) * (1 - step) * expected_cost(game, pool, state, spell);
  }
  if (step > 0) {
    cost += (1 - leave) * step * expected_cost(game, pool, state, {spell.up, spell.phase + 1});
  }
  return cost;
}

double expected_cost(const DeadlineGame& game, const PoolModel& pool, const GameState& before,
                     const Spell& spell) {
  if (before.parts_left <= 0) return 0;
  if (before.tick == game.deadline) return 1e30;
  GameState state = before;
  if (!spell.up) state.spot.hold(0, game.changeover);
  double best = after_move(game, pool, state, spell, {0, 0});
  best = std::min(best, after_move(game, pool, state, spell, {0, 1}));
  if (spell.up) best = std::min(best, after_move(game, pool, state, spell, {1, 0}));
  return best;
}

TEST(DeadlineTable, EqualsTryingEverything) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 3, 1);
    game.deadline = std::min(game.deadline, 6);
    PoolModel pool = random_pool(random, 1 + random.below(3));
    if (seed % 2 == 1) pool.stand_in = random.uniform(0.1, 0.9);
    const DeadlineTable table(game, pool);
    for (const bool up : {false, true}) {
      const GameState start{.parts_left = game.work};
      const double tried = expected_cost(game, pool, start, {up, 0});
      if (tried > DeadlineTable::kImpossible) {
        EXPECT_GT(table.value(up), DeadlineTable::kImpossible) << seed;
      } else {
        EXPECT_NEAR(table.value(up), tried, 1e-4 * tried) << seed;
      }
    }
  }
}

/// Runs the table on a sequence of spells, and returns the machines held.
bool keeps_deadline(const DeadlineGame& game, const DeadlineTable& table,
                    const std::vector<int>& trace) {
  using Kind = DeadlineTable::Machine::Kind;
  GameState state{.parts_left = game.work};
  int age = 0;
  for (; state.tick < game.deadline && state.parts_left > 0; ++state.tick) {
    const std::size_t at = static_cast<std::size_t>(state.tick);
    const bool up = trace[at] > 0;
    if (at > 0) age = trace[at] == trace[at - 1] ? age + 1 : 0;
    state.spot.hold(std::min(state.spot.count(), up ? 1 : 0), game.changeover);
    DeadlineTable::Machine machine;
    if (state.spot.count() > 0) machine = {Kind::kSpot, state.spot.left()[0]};
    if (state.on_demand.count() > 0) machine = {Kind::kOnDemand, state.on_demand.left()[0]};
    const Move move = table.move(game.deadline - state.tick, state.parts_left, up,
                                 phase_at(table.pool().up, age), machine);
    if (move == Move::kSpot && !up) return false;
    state.spot.hold(move == Move::kSpot ? 1 : 0, game.changeover);
    state.on_demand.hold(move == Move::kOnDemand ? 1 : 0, game.changeover);
    state.parts_left -= state.spot.pass() + state.on_demand.pass();
  }
  return state.parts_left <= 0;
}

// Every sequence of ten ticks: no spot availability makes it late.
TEST(DeadlineTable, KeepsEveryDeadlineThatCanBeKeptWhateverSpotDoes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    DeadlineGame game = random_game(random, 6, 1);
    game.deadline = std::min(game.deadline, 10);
    if (game.deadline < game.work + game.changeover) continue;
    PoolModel pool = random_pool(random, 3);
    pool.stand_in = 0.9 * static_cast<double>(seed % 2);
    const DeadlineTable table(game, pool);
    for (unsigned bits = 0; bits < (1U << static_cast<unsigned>(game.deadline)); ++bits) {
      std::vector<int> trace;
      for (int i = 0; i < game.deadline; ++i) {
        trace.push_back(static_cast<int>(bits >> static_cast<unsigned>(i)) & 1);
      }
      ASSERT_TRUE(keeps_deadline(game, table, trace)) << seed << " " << bits;
    }
  }
}

TEST(DeadlineTable, KnowsWhenADeadlineCannotBeKept) {
  const DeadlineGame game{.work = 5, .deadline = 6, .changeover = 2, .price_ratio = 3};
  Random random(1);
  EXPECT_GT(DeadlineTable(game, random_pool(random, 2)).value(true), DeadlineTable::kImpossible);
}

// A pool that is nearly always available is used all the time: two ticks of set-up and ten of work.
TEST(DeadlineTable, UsesAPoolThatIsAlwaysThere) {
  const DeadlineGame game{.work = 10, .deadline = 30, .changeover = 2, .price_ratio = 3};
  const PoolModel pool{.up = {{0, 1e-5}}, .down = {{0, 0.5}}};
  EXPECT_NEAR(DeadlineTable(game, pool).value(true), 12, 0.01);
}

// Two pools that are available in turn are worth more than one.
TEST(DeadlineTable, CountsOnAnotherZoneThatStandsIn) {
  const DeadlineGame game{.work = 20, .deadline = 30, .changeover = 1, .price_ratio = 3};
  PoolModel pool{.up = {{0, 0.2}}, .down = {{0, 0.2}}};
  const double alone = DeadlineTable(game, pool).value(true);
  pool.stand_in = 0.8;
  EXPECT_LT(DeadlineTable(game, pool).value(true), 0.9 * alone);
}

}  // namespace
}  // namespace stint
