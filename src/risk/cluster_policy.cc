#include "risk/cluster_policy.h"

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
  // A machine that was asked for on demand may have been refused.
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
