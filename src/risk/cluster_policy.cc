#include "risk/cluster_policy.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stint {
namespace {

int set_up_left(const Fleet& fleet) {
  return std::accumulate(fleet.left().begin(), fleet.left().end(), 0);
}

}  // namespace

ClusterPolicy::ClusterPolicy(CountBelief belief) : first_(std::move(belief)), belief_(first_) {}

void ClusterPolicy::begin(const DeadlineGame& game, std::span<const int> past) {
  game_ = game;
  belief_ = first_;
  for (const int count : past) belief_.see(count);
  table_ = nullptr;
  before_ = {};
}

void ClusterPolicy::begin_zones(const DeadlineGame& game, const ZoneTicks& past) {
  begin(game, past.front());
  zones_.clear();
  if (past.size() < 2) return;
  belief_ = first_;
  zones_.resize(past.size(), {.belief = first_});
  std::vector<int> counts(past.size());
  int zone = 0;
  for (std::size_t tick = 0; tick < past.front().size(); ++tick) {
    for (std::size_t z = 0; z < past.size(); ++z) {
      counts[z] = std::min(past[z][tick], game.machines);
      zones_[z].belief.see(counts[z]);
    }
    zone = half_as_full(counts, zone);
    belief_.see(counts[static_cast<std::size_t>(zone)]);
  }
}

int ClusterPolicy::choose_zone(const GameState& state, std::span<const int> counts) {
  for (std::size_t z = 0; z < zones_.size(); ++z) {
    Zone& zone = zones_[z];
    zone.belief.see(counts[z]);
    if (!zone.machine_ticks.empty() && zone.belief.ticks() <= 1.5 * zone.ticks + 20) continue;
    zone.machine_ticks = machine_ticks(zone.belief.model(), game_.deadline - state.tick);
    zone.ticks = zone.belief.ticks();
  }
  // Work until the deadline in machine-ticks, less what the set-up takes.
  const auto yield = [&](std::size_t z, int set_up) {
    return zones_[z].machine_ticks[static_cast<std::size_t>(counts[z])] - set_up;
  };
  const auto here = static_cast<std::size_t>(state.zone);
  const int to_start = counts[here] - state.spot.count();
  std::size_t best = here;
  double most = yield(here, set_up_left(state.spot) + to_start * game_.changeover);
  for (std::size_t z = 0; z < zones_.size(); ++z) {
    if (counts[z] <= counts[here] || yield(z, counts[z] * game_.changeover) <= most) continue;
    most = yield(z, counts[z] * game_.changeover);
    best = z;
  }
  if (best != here) before_.spot = 0;
  return static_cast<int>(best);
}

Holding ClusterPolicy::choose(const GameState& state) {
  belief_.see(state.available);
  const int left = game_.deadline - state.tick;
  if (table_ == nullptr || belief_.ticks() > 1.5 * ticks_ + 20) {
    DeadlineGame rest = game_;
    rest.deadline = left;
    rest.work = std::max(1, (state.parts_left + game_.machines - 1) / game_.machines);
    table_ = std::make_unique<ClusterTable>(rest, belief_.model());
    ticks_ = belief_.ticks();
  }
  // A requested on-demand machine may have been refused.
  before_.on_demand = state.on_demand.count();
  const int owed = set_up_left(state.spot) + set_up_left(state.on_demand);
  const ClusterMove best = table_->move(left, state.parts_left + owed, state.available, before_);
  for (const ClusterMove move : {best, ClusterMove::kFillBeside, ClusterMove::kFill}) {
    before_ = holding_of(game_, move, state.available, state.on_demand.count());
    if (is_safe(game_, state, before_)) return before_;
  }
  return before_ = holding_of(game_, ClusterMove::kAllOnDemand, 0, 0);
}

}  // namespace stint
