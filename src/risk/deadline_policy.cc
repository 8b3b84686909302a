#include "risk/deadline_policy.h"

#include <algorithm>

namespace stint {
namespace {

/// The machines held by the table's best move, in a spell of this age.
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

LearnedPolicy::LearnedPolicy(PoolBelief belief) : first_(std::move(belief)), all_(first_) {}

void LearnedPolicy::begin(const DeadlineGame& game, std::span<const int> past) {
  begin_zones(game, {past});
}

void LearnedPolicy::begin_zones(const DeadlineGame& game, const ZoneTicks& past) {
  game_ = game;
  zones_.clear();
  for (std::size_t z = 0; z < past.size(); ++z) zones_.push_back({.belief = first_});
  all_ = first_;
  ends_ = 0;
  stood_in_for_ = 0;
  std::vector<int> counts(past.size());
  for (std::size_t tick = 0; tick < past.front().size(); ++tick) {
    for (std::size_t z = 0; z < past.size(); ++z) counts[z] = past[z][tick];
    see(counts);
  }
}

void LearnedPolicy::see(std::span<const int> counts) {
  const bool any = *std::max_element(counts.begin(), counts.end()) >= 1;
  for (std::size_t z = 0; z < zones_.size(); ++z) {
    PoolBelief& belief = zones_[z].belief;
    const bool up = counts[z] >= 1;
    if (belief.is_up() && !up) ends_ += 1;
    if (belief.is_up() && !up && any) stood_in_for_ += 1;
    belief.see(up);
  }
  if (zones_.size() > 1) all_.see(any);
}

PoolModel LearnedPolicy::model_of(const Zone& zone) const {
  PoolModel model = zone.belief.model();
  if (zones_.size() < 2) return model;
  model.down = all_.model().down;
  model.stand_in = std::min(0.95, (stood_in_for_ + 1) / (ends_ + 2));
  return model;
}

int LearnedPolicy::choose_zone(const GameState& state, std::span<const int> counts) {
  see(counts);
  if (state.spot.count() > 0) return state.zone;
  int best = state.zone;
  double longest = 0;
  for (std::size_t z = 0; z < zones_.size(); ++z) {
    if (counts[z] == 0) continue;
    Zone& zone = zones_[z];
    refresh(zone, zone.belief.age());
    const auto phase = static_cast<std::size_t>(phase_at(zone.model.up, zone.belief.age()));
    const double ticks = 1 + ticks_to_go(zone.model.up)[phase];
    if (ticks <= longest) continue;
    longest = ticks;
    best = static_cast<int>(z);
  }
  return best;
}

void LearnedPolicy::refresh(Zone& zone, int age) const {
  // An unusually long spell is information about the pool as well.
  if (age == 0) zone.age = 0;
  const bool known = !zone.model.up.empty();
  if (known && zone.belief.spells() <= 1.25 * zone.spells + 2 && age <= 2 * zone.age + 12) return;
  zone.model = model_of(zone);
  zone.table = nullptr;
  zone.spells = zone.belief.spells();
  zone.age = age;
}

Holding LearnedPolicy::choose(const GameState& state) {
  if (zones_.size() == 1) see({&state.available, 1});
  const int left = game_.deadline - state.tick;
  if (state.parts_left > left) return {0, 1};
  Zone& zone = zones_[static_cast<std::size_t>(state.zone)];
  // Without spot in any zone the spell of all zones counts.
  const bool nowhere = zones_.size() > 1 && state.available == 0;
  const int age = nowhere ? all_.age() : zone.belief.age();
  refresh(zone, age);
  if (zone.table == nullptr) {
    DeadlineGame rest = game_;
    rest.work = state.parts_left;
    rest.deadline = left;
    zone.table = std::make_unique<DeadlineTable>(rest, zone.model);
  }
  return best_holding(*zone.table, state, left, age);
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
