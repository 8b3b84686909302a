#include "supervise/rehearsal_policy.h"

#include <numeric>

namespace stint {
namespace {

int set_up_left(const Fleet& fleet) {
  return std::accumulate(fleet.left().begin(), fleet.left().end(), 0);
}

class TablePolicy : public DeadlinePolicy {
 public:
  explicit TablePolicy(RehearsalTables& tables) : tables_(tables) {}

  void begin(const DeadlineGame& game, std::span<const int> /*past*/) override {
    game_ = game;
    table_ = &tables_.table(game);
    before_ = {};
  }

  Holding choose(const GameState& state) override {
    before_.on_demand = state.on_demand.count();
    const int owed = set_up_left(state.spot) + set_up_left(state.on_demand);
    const ClusterMove best = table_->move(game_.deadline - state.tick, state.parts_left + owed,
                                          state.available, before_);
    for (const ClusterMove move : {best, ClusterMove::kFillBeside, ClusterMove::kFill}) {
      before_ = holding_of(game_, move, state.available, state.on_demand.count());
      if (is_safe(game_, state, before_)) return before_;
    }
    return before_ = holding_of(game_, ClusterMove::kAllOnDemand, 0, 0);
  }

 private:
  RehearsalTables& tables_;
  DeadlineGame game_;
  const ClusterTable* table_ = nullptr;
  Holding before_;
};

}  // namespace

std::unique_ptr<DeadlinePolicy> RehearsalTables::policy() {
  return std::make_unique<TablePolicy>(*this);
}

const ClusterTable& RehearsalTables::table(const DeadlineGame& game) {
  const std::pair key(game.work, game.deadline);
  const auto found = tables_.find(key);
  if (found != tables_.end()) return found->second;
  return tables_.emplace(key, ClusterTable(game, pool_)).first->second;
}

}  // namespace stint
