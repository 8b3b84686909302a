#include "supervise/rehearsal.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/normal.h"
#include "base/random.h"

namespace stint {
namespace {

// Rehearsals with more events than kLong differ little from each other, and each takes a good part
// of a second: no further one is begun after kLongEnough events of such.
constexpr int kLong = 10'000;
constexpr std::int64_t kLongEnough = 60'000;
constexpr int kRunsMin = 3;

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

template <class Q>
Spread<Q> spread_of(std::vector<Q> values) {
  std::sort(values.begin(), values.end());
  Q sum;
  for (const Q value : values) sum += value;
  return {.mean = sum / static_cast<double>(values.size()),
          .p10 = sorted_quantile(values, 0.1),
          .p50 = sorted_quantile(values, 0.5),
          .p90 = sorted_quantile(values, 0.9)};
}

void add(BillParts& sum, const BillParts& parts, double share) {
  sum.training += share * parts.training;
  sum.saving += share * parts.saving;
  sum.redone += share * parts.redone;
  sum.starting += share * parts.starting;
  sum.standing += share * parts.standing;
  sum.keeping += share * parts.keeping;
}

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

Forecast rehearse(const RunTerms& terms, const RehearsalWorld& world, const RunSoFar& so_far,
                  const Rehearsals& rehearsals) {
  CHECK(rehearsals.runs > 0);
  RunTerms remembering = terms;
  remembering.step_time = remembered(terms.step_time);
  Forecast forecast;
  int ends = 0;
  int in_time = 0;
  int in_budget = 0;
  std::vector<Seconds> times;
  std::vector<Dollars> costs;
  const Random seeds(rehearsals.seed);
  RehearsalWorld drawn = world;
  BillParts parts;
  double losses = 0;
  bool endless = false;         // Another rehearsal would take as long and say the same.
  std::int64_t happenings = 0;  // Of long rehearsals.
  const auto enough = [&] { return forecast.runs >= kRunsMin && happenings > kLongEnough; };
  for (int i = 0; i < rehearsals.runs && !endless && !enough(); ++i) {
    const Random chance = seeds.fork(static_cast<std::uint64_t>(i));
    const std::uint64_t seed = Random(chance).bits();
    if (rehearsals.capacity) drawn.capacity = rehearsals.capacity(chance.fork(0));
    auto policy = rehearsals.policy ? rehearsals.policy() : nullptr;
    const RehearsedRun run = rehearse_once(remembering, drawn, so_far, seed, std::move(policy));
    times.push_back(run.time);
    costs.push_back(run.cost);
    const bool trained = run.outcome == RunVerdict::kTrained;
    if (trained) ++ends;
    if (trained && run.time <= terms.deadline.value_or(run.time)) ++in_time;
    if (trained && run.cost <= terms.budget.value_or(run.cost)) ++in_budget;
    losses += run.losses;
    add(parts, run.parts, 1);
    endless = run.cut_short;
    if (run.happenings > kLong) happenings += run.happenings;
    ++forecast.runs;
  }
  const double share = 1.0 / forecast.runs;
  forecast.losses = share * losses;
  add(forecast.parts, parts, share);
  forecast.trained = static_cast<double>(ends) / forecast.runs;
  forecast.deadline_kept = static_cast<double>(in_time) / forecast.runs;
  forecast.budget_kept = static_cast<double>(in_budget) / forecast.runs;
  forecast.time = spread_of(std::move(times));
  forecast.cost = spread_of(std::move(costs));
  return forecast;
}

}  // namespace stint
