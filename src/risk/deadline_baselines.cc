#include "risk/deadline_baselines.h"

#include <cmath>

namespace stint {

void OnDemandOnly::begin(const DeadlineGame& game, std::span<const int> /*past*/) { game_ = game; }

Holding OnDemandOnly::choose(const GameState& /*state*/) { return {0, game_.machines}; }

void SpotOnly::begin(const DeadlineGame& /*game*/, std::span<const int> /*past*/) {}

Holding SpotOnly::choose(const GameState& state) { return {state.available, 0}; }

void Greedy::begin(const DeadlineGame& game, std::span<const int> /*past*/) {
  game_ = game;
  for_good_ = false;
}

Holding Greedy::choose(const GameState& state) {
  const Holding spot = {state.available, 0};
  if (!for_good_ && !is_safe(game_, state, spot)) for_good_ = true;
  return for_good_ ? Holding{0, game_.machines} : spot;
}

Holding fill_up(const DeadlineGame& game, const GameState& state) {
  const int spot = std::min(state.available, game.machines - state.on_demand.count());
  return {spot, game.machines - spot};
}

void UniformProgress::begin(const DeadlineGame& game, std::span<const int> /*past*/) {
  game_ = game;
  for_good_ = false;
}

Holding UniformProgress::choose(const GameState& state) {
  const double machines = game_.machines;
  const double left = state.parts_left / machines;
  if (game_.deadline - state.tick <= std::ceil(left) + 2 * game_.changeover) for_good_ = true;
  if (for_good_) return {0, game_.machines};
  const double pace = static_cast<double>(game_.work) / game_.deadline;
  const double done = game_.work - left;
  const bool ahead = done >= (state.tick + 2 * game_.changeover) * pace;
  const bool behind = done < state.tick * pace;
  if (state.on_demand.count() > 0 ? !ahead : behind) return fill_up(game_, state);
  return {state.available, 0};
}

}  // namespace stint
