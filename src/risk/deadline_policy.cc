#include "risk/deadline_policy.h"

namespace stint {
namespace {

/// What the table's best move holds, in a spell of this age.
Holding best_holding(const DeadlineTable& table, const GameState& state, int ticks_left, int age) {
  DeadlineTable::Machine machine;
  using Kind = DeadlineTable::Machine::Kind;
  if (state.spot.count() > 0) machine = {Kind::kSpot, state.spot.left()[0]};
  if (state.on_demand.count() > 0) machine = {Kind::kOnDemand, state.on_demand.left()[0]};
  const bool up = state.available >= 1;
  const auto& phases = up ? table.pool().up : table.pool().down;
  const Move move = table.move(ticks_left, state.parts_left, up, phase_at(phases, age), machine);
  if (move == Move::kSpot) return {up ? 1 : 0, 0};
  return {0, move == Move::kOnDemand ? 1 : 0};
}

}  // namespace

LearnedPolicy::LearnedPolicy(PoolBelief belief) : first_(std::move(belief)), belief_(first_) {}

void LearnedPolicy::begin(const DeadlineGame& game, std::span<const int> past) {
  game_ = game;
  belief_ = first_;
  for (const int count : past) belief_.see(count >= 1);
  table_ = nullptr;
}

Holding LearnedPolicy::choose(const GameState& state) {
  belief_.see(state.available >= 1);
  const int left = game_.deadline - state.tick;
  if (state.parts_left > left) return {0, 1};
  // A spell that goes on and on tells something about the pool, too.
  if (belief_.age() == 0) age_ = 0;
  if (table_ == nullptr || belief_.spells() > 1.25 * spells_ + 2 || belief_.age() > 2 * age_ + 12) {
    DeadlineGame rest = game_;
    rest.work = state.parts_left;
    rest.deadline = left;
    table_ = std::make_unique<DeadlineTable>(rest, belief_.model());
    spells_ = belief_.spells();
    age_ = belief_.age();
  }
  return best_holding(*table_, state, left, belief_.age());
}

void InformedPolicy::begin(const DeadlineGame& game, std::span<const int> past) {
  game_ = game;
  table_ = std::make_unique<DeadlineTable>(game, law_);
  up_.reset();
  for (const int count : past) see(count >= 1);
}

void InformedPolicy::see(bool up) {
  age_ = up_ == up ? age_ + 1 : 0;
  up_ = up;
}

Holding InformedPolicy::choose(const GameState& state) {
  see(state.available >= 1);
  const int left = game_.deadline - state.tick;
  if (state.parts_left > left) return {0, 1};
  return best_holding(*table_, state, left, age_);
}

}  // namespace stint
