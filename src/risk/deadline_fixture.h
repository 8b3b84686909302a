#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "risk/deadline_game.h"
#include "risk/pool_model.h"

namespace stint {

/// A small random game whose deadline can be kept on demand.
inline DeadlineGame random_game(Random& random, int work_max, int machines) {
  DeadlineGame game;
  game.work = 1 + random.below(work_max);
  game.changeover = random.below(3);
  game.deadline = game.work + game.changeover + random.below(work_max + 1);
  game.machines = machines;
  game.price_ratio = random.uniform(1.1, 5);
  return game;
}

/// A random pool of this many phases.
inline PoolModel random_pool(Random& random, int phases) {
  PoolModel pool;
  int age = 0;
  for (int i = 0; i < phases; ++i) {
    pool.up.push_back({age, random.uniform(0.02, 0.9)});
    pool.down.push_back({age, random.uniform(0.02, 0.9)});
    age += 1 + random.below(3);
  }
  return pool;
}

/// Spot machines tick by tick, in spells of random length.
inline std::vector<int> random_trace(Random& random, int ticks, int machines) {
  std::vector<int> trace;
  while (static_cast<int>(trace.size()) < ticks) {
    const int count = random.below(machines + 1);
    for (int spell = 1 + random.below(1 + random.below(12)); spell > 0; --spell) {
      trace.push_back(count);
    }
  }
  trace.resize(static_cast<std::size_t>(ticks));
  return trace;
}

/// Simulates a tick with the policy's choice.
inline void play_tick(const DeadlineGame& game, DeadlinePolicy& policy, GameState& state) {
  const Holding choice = policy.choose(state);
  state.spot.hold(choice.spot, game.changeover);
  state.on_demand.hold(choice.on_demand, game.changeover);
  state.parts_left -= state.spot.pass() + state.on_demand.pass();
}

/// The parts left at the deadline against an adversary: `available` returns the spot machines of a
/// tick, given whether the first held one would make progress.
template <class Available>
int left_by_adversary(const DeadlineGame& game, DeadlinePolicy& policy, Available available) {
  policy.begin(game, {});
  GameState state{.parts_left = game.parts()};
  for (; state.tick < game.deadline && state.parts_left > 0; ++state.tick) {
    state.available = available(state.spot.count() > 0 && state.spot.left()[0] == 0);
    state.spot.hold(std::min(state.spot.count(), state.available), game.changeover);
    play_tick(game, policy, state);
  }
  return state.parts_left;
}

}  // namespace stint
