#include "validate/validate_deadline_synthetic.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulate/deadline_replay.h"
#include "simulate/synthetic_pool.h"
#include "validate/deadline_refusals.h"

namespace stint {
namespace {

constexpr Seconds kGap = kTraceGap;

std::vector<double> slacks_of(const DeadlineTerms& terms) {
  if (terms.deadline) return {*terms.deadline / terms.work};
  return {1.1, 1.25, 1.5, 2};
}

using Zones = std::vector<SyntheticPool>;

ReplayPool pool_of(const Zones& zones, const DeadlineGame& game) {
  const SyntheticPool& first = zones.front();
  ReplayPool pool{
      .game = game, .gap = first.gap, .zones = {}, .prior = learned_prior(game, first.gap, {})};
  for (const SyntheticPool& zone : zones) pool.zones.push_back(zone.counts);
  const bool is_known = zones.size() == 1 && first.kind == PoolKind::kSteady;
  if (is_known) pool.law = law_of(first, game.deadline);
  return pool;
}

}  // namespace

Result<DeadlineValidation> validate_deadline_synthetic(const SyntheticDeadlineRequest& request) {
  const Random random(static_cast<std::uint64_t>(request.seed));
  const int ticks = static_cast<int>(request.length / kGap);
  DeadlineValidation validation;
  std::vector<ReplayPool> pools;
  std::vector<ReplayWindow> windows;
  std::uint64_t fork = 0;
  for (const auto& [kind, name] : names_of(PoolKind{})) {
    std::vector<Zones> drawn;
    for (int i = 0; i < request.pools; ++i) {
      drawn.push_back(synthetic_zones(kind, request.zones, random.fork(fork++), kGap, ticks));
    }
    for (const double slack : slacks_of(request.terms)) {
      DeadlineTerms terms = request.terms;
      terms.deadline = slack * terms.work;
      const auto game = game_in_ticks(terms, kGap);
      if (!game.ok()) return game.error();
      const int step = window_step_in_ticks(request.window_step, *game, kGap);
      const std::size_t before = windows.size();
      for (const Zones& zones : drawn) {
        pools.push_back(pool_of(zones, *game));
        for (const int start : window_starts(pools.back(), step)) {
          windows.push_back({pools.size() - 1, start});
        }
      }
      const int count = static_cast<int>(windows.size() - before);
      if (count == 0) return bad_usage("--work is longer than the synthetic pools of 14 days");
      validation.cells.push_back({.kind = name, .slack = slack, .windows = count, .policies = {}});
    }
  }

  if (!request.refusals.empty()) {
    const auto refusals = add_refusals(request.refusals, pools);
    if (!refusals.ok()) return refusals.error();
    validation.refusals = *refusals;
  }
  const std::vector<WindowOutcome> outcomes = replay(pools, windows, request.progress);
  validation.windows = static_cast<int>(outcomes.size());
  validation.policies = score_windows(outcomes);
  std::span<const WindowOutcome> rest = outcomes;
  for (DeadlineCell& cell : validation.cells) {
    const auto size = static_cast<std::size_t>(cell.windows);
    cell.policies = score_windows(rest.first(size));
    rest = rest.subspan(size);
  }
  return validation;
}

}  // namespace stint
