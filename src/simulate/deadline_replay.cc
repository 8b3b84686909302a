#include "simulate/deadline_replay.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/check.h"
#include "risk/deadline_baselines.h"

namespace stint {
namespace {

// Weight of another pool's counts relative to a cluster's own, because the pool is unknown.
constexpr Seconds kOthersWeight = 12 * kHour;

std::unique_ptr<DeadlinePolicy> stint_policy(const PoolPrior& prior) {
  if (const auto* belief = std::get_if<PoolBelief>(&prior)) {
    return std::make_unique<LearnedPolicy>(*belief);
  }
  return std::make_unique<ClusterPolicy>(std::get<CountBelief>(prior));
}

std::unique_ptr<DeadlinePolicy> policy_of(const ReplayPool& pool, Player player) {
  switch (player) {
    case Player::kOnDemand:
      return std::make_unique<OnDemandOnly>();
    case Player::kSpot:
      return std::make_unique<SpotOnly>();
    case Player::kGreedy:
      return std::make_unique<Greedy>();
    case Player::kUniformProgress:
      return std::make_unique<UniformProgress>();
    case Player::kStint:
      return stint_policy(pool.prior);
    case Player::kInformed:
      CHECK(pool.law.has_value() && pool.zones.size() == 1);
      return std::make_unique<InformedPolicy>(*pool.law);
    case Player::kStintOneZone:
    case Player::kOptimum:
      break;
  }
  CHECK(false);
  return nullptr;
}

PlayedGame played(const ReplayPool& pool, int start, Player player,
                  const std::vector<bool>& refused) {
  const GameResult result = play_window(pool, start, player, refused);
  return {.cost = result.cost,
          .missed = !result.finished.has_value(),
          .finish = result.finished.value_or(pool.game.deadline + result.overdue) * pool.gap,
          .late = result.overdue * pool.gap};
}

/// The result of stint in each zone alone: the mean cost and the latest finish.
PlayedGame played_in_one_zone(const ReplayPool& pool, int start, const std::vector<bool>& refused) {
  PlayedGame mean;
  ReplayPool alone = pool;
  for (const std::vector<int>& zone : pool.zones) {
    alone.zones = {zone};
    const PlayedGame game = played(alone, start, Player::kStint, refused);
    mean.cost += game.cost / static_cast<double>(pool.zones.size());
    mean.missed = mean.missed || game.missed;
    mean.finish = std::max(mean.finish, game.finish);
    mean.late = std::max(mean.late, game.late);
  }
  return mean;
}

WindowOutcome outcome_of(const ReplayPool& pool, int start) {
  WindowOutcome outcome;
  if (pool.zones.size() > 1) {
    outcome.games[Player::kStintOneZone] = played_in_one_zone(pool, start, {});
    if (!pool.refused.empty()) {
      outcome.refused[Player::kStintOneZone] = played_in_one_zone(pool, start, pool.refused);
    }
  }
  for (const auto& [player, name] : names_of(Player{})) {
    if (player == Player::kStintOneZone) continue;
    if (player == Player::kInformed && !pool.law) continue;
    outcome.games[player] = played(pool, start, player, {});
    if (pool.refused.empty() || player == Player::kOptimum) continue;
    outcome.refused[player] = played(pool, start, player, pool.refused);
  }
  return outcome;
}

RefusalScore refusal_score(std::span<const WindowOutcome> outcomes, Player player) {
  RefusalScore score;
  for (const WindowOutcome& outcome : outcomes) {
    const PlayedGame& game = outcome.refused.at(player);
    const Seconds slip = game.finish - outcome.games.at(player).finish;
    if (game.missed) ++score.missed;
    score.slip_mean += slip / static_cast<double>(outcomes.size());
    score.slip_max = std::max(score.slip_max, slip);
    score.late_max = std::max(score.late_max, game.late);
  }
  return score;
}

}  // namespace

std::span<const EnumName<Player>> names_of(Player) {
  static constexpr std::array<EnumName<Player>, 8> kNames{
      {{Player::kOnDemand, "on-demand"},
       {Player::kSpot, "spot"},
       {Player::kGreedy, "greedy"},
       {Player::kUniformProgress, "uniform-progress"},
       {Player::kStint, "stint"},
       {Player::kStintOneZone, "stint-one-zone"},
       {Player::kInformed, "informed"},
       {Player::kOptimum, "optimum"}}};
  return kNames;
}

PoolPrior learned_prior(const DeadlineGame& game, Seconds gap,
                        const std::vector<std::vector<int>>& others) {
  if (game.machines == 1) {
    PoolBelief belief(gap, game.deadline);
    for (const std::vector<int>& counts : others) belief.learn_from(counts, 1);
    return belief;
  }
  CountBelief belief(game.machines);
  for (const std::vector<int>& counts : others) belief.learn_from(counts, kOthersWeight / gap);
  return belief;
}

std::vector<int> window_starts(const ReplayPool& pool, int step) {
  CHECK(step >= 1);
  std::vector<int> starts;
  const int last = static_cast<int>(pool.zones.front().size()) - pool.game.deadline;
  for (int start = 0; start <= last; start += step) starts.push_back(start);
  return starts;
}

GameResult play_window(const ReplayPool& pool, int start, Player player,
                       const std::vector<bool>& refused) {
  ZoneTicks past;
  ZoneTicks window;
  for (const std::span<const int> zone : pool.zones) {
    const auto first = static_cast<std::size_t>(start);
    past.push_back(zone.first(first));
    window.push_back(zone.subspan(first, static_cast<std::size_t>(pool.game.deadline)));
  }
  if (player == Player::kOptimum) {
    GameResult result;
    result.cost = cheapest_in_hindsight(pool.game, window);
    result.finished = pool.game.deadline;
    return result;
  }
  return play(pool.game, past, window, *policy_of(pool, player), refused);
}

std::vector<WindowOutcome> replay(std::span<const ReplayPool> pools,
                                  std::span<const ReplayWindow> windows, const Progress& progress) {
  std::vector<WindowOutcome> outcomes(windows.size());
  for_each_parallel(
      windows.size(),
      [&](std::size_t i) { outcomes[i] = outcome_of(pools[windows[i].pool], windows[i].start); },
      progress);
  return outcomes;
}

std::map<std::string, DeadlineScore> score_windows(std::span<const WindowOutcome> outcomes) {
  std::map<std::string, DeadlineScore> scores;
  if (outcomes.empty()) return scores;
  const auto n = static_cast<double>(outcomes.size());
  for (const auto& [player, name] : names_of(Player{})) {
    const bool all_played = std::all_of(
        outcomes.begin(), outcomes.end(),
        [who = player](const WindowOutcome& outcome) { return outcome.games.contains(who); });
    if (!all_played) continue;
    DeadlineScore& score = scores[name];
    for (const WindowOutcome& outcome : outcomes) {
      const PlayedGame& game = outcome.games.at(player);
      const double to_optimum = game.cost / outcome.games.at(Player::kOptimum).cost;
      score.cost_ratio_to_optimum += to_optimum / n;
      score.cost_ratio_to_on_demand += game.cost / outcome.games.at(Player::kOnDemand).cost / n;
      score.worst_ratio_to_optimum = std::max(score.worst_ratio_to_optimum, to_optimum);
      if (game.missed) ++score.missed;
    }
    if (outcomes.front().refused.contains(player)) score.refused = refusal_score(outcomes, player);
  }
  return scores;
}

}  // namespace stint
