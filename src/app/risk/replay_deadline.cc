#include "app/risk/replay_deadline.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "risk/cluster_table.h"

namespace stint {
namespace {

// The tables of the policies grow with the square of the ticks.
constexpr double kTicksMax = 10'000;

/// The most machines for which the table of `game` stays within its memory.
int machines_max(DeadlineGame game) {
  while (game.machines > 1 && cluster_table_cells(game) > kClusterTableCellsMax) --game.machines;
  return game.machines;
}

std::string hours_of(double ticks, Seconds gap) { return to_text(ticks * gap, "h"); }

}  // namespace

Result<DeadlineGame> game_in_ticks(const DeadlineTerms& terms, Seconds gap) {
  if (!(terms.price_ratio > 0) || !std::isfinite(terms.price_ratio)) {
    return bad_usage(fmt::format("--price-ratio must be above zero, not {:g}", terms.price_ratio));
  }
  // 13 min are exactly four ticks of 195 s, with any rounding.
  constexpr double kRounding = 1e-9;
  const double work = std::round(terms.work / gap);
  const double deadline = std::round(terms.deadline_or_default() / gap);
  const double changeover = std::ceil(terms.changeover / gap - kRounding);
  if (!(work >= 1)) {
    return bad_usage(fmt::format("--work {} is less than one tick of the trace, {}",
                                 to_text(terms.work), to_text(gap)));
  }
  if (!(work + changeover <= deadline)) {
    return bad_usage(fmt::format(
        "--deadline {} is too short: in ticks of {}, the work and one changeover take {}, the "
        "shortest feasible deadline",
        to_text(terms.deadline_or_default(), "h"), to_text(gap), hours_of(work + changeover, gap)));
  }
  if (!(deadline <= kTicksMax)) {
    return bad_usage(fmt::format("--deadline {} is too long: the maximum is {} ticks of {}",
                                 to_text(terms.deadline_or_default(), "h"), kTicksMax,
                                 to_text(gap)));
  }
  const DeadlineGame game{.work = static_cast<int>(work),
                          .deadline = static_cast<int>(deadline),
                          .changeover = static_cast<int>(changeover),
                          .machines = terms.machines,
                          .price_ratio = terms.price_ratio};
  // One machine has a table of its own, which is smaller.
  if (game.machines == 1 || cluster_table_cells(game) <= kClusterTableCellsMax) return game;
  return bad_usage(fmt::format(
      "--machines {} is too many for a deadline of {} in ticks of {}: the maximum is {}",
      game.machines, to_text(terms.deadline_or_default(), "h"), to_text(gap), machines_max(game)));
}

int window_step_in_ticks(const std::optional<Seconds>& step, const DeadlineGame& game,
                         Seconds gap) {
  if (!step) return std::max(1, game.deadline / 2);
  // No trace has more ticks than that.
  constexpr double kFar = 1e8;
  return static_cast<int>(std::clamp(std::round(*step / gap), 1.0, kFar));
}

Result<std::vector<AvailabilityTrace>> load_traces(const std::vector<std::string>& files) {
  std::vector<AvailabilityTrace> traces;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto trace = read_availability_trace(*text, file);
    if (!trace.ok()) return trace.error();
    traces.push_back(std::move(*trace));
  }
  return traces;
}

Result<DeadlineReplay> replay_deadline(const ReplayDeadlineRequest& request) {
  if (request.traces.empty()) {
    return bad_usage("--trace is required: a file with the number of spot machines over time");
  }
  const auto traces = load_traces(request.traces);
  if (!traces.ok()) return traces.error();
  const Seconds gap = traces->front().gap;
  const auto game = game_in_ticks(request.terms, gap);
  if (!game.ok()) return game.error();
  ReplayPool pool{.game = *game,
                  .gap = gap,
                  .zones = side_by_side(*traces),
                  .prior = learned_prior(*game, gap, {})};
  const double start = std::round(request.start / gap);
  const auto ticks = static_cast<double>(pool.zones.front().size());
  if (!(start >= 0) || !(start + game->deadline <= ticks)) {
    return bad_usage(fmt::format("a window of {} from {} on is not inside {}, which lasts {}",
                                 to_text(request.terms.deadline_or_default(), "h"),
                                 to_text(request.start, "h"), join(request.traces, " + "),
                                 to_text(ticks * gap, "h")));
  }

  DeadlineReplay replay{
      .game = *game, .gap = gap, .start = static_cast<int>(start), .zones = request.traces};
  replay.result = play_window(pool, replay.start, request.player);
  replay.on_demand_cost = play_window(pool, replay.start, Player::kOnDemand).cost;
  replay.optimum_cost = play_window(pool, replay.start, Player::kOptimum).cost;
  return replay;
}

}  // namespace stint
