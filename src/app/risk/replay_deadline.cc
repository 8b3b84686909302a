#include "app/risk/replay_deadline.h"

#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "base/unit_text.h"

namespace stint {

Result<DeadlineReplay> replay_deadline(const ReplayDeadlineRequest& request) {
  if (request.traces.empty()) {
    return bad_usage("--trace is missing: a file of how many spot machines there were");
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
    return bad_usage(
        fmt::format("a window of {} that begins at {} does not lie within {}, which "
                    "lasts {}",
                    to_text(request.terms.deadline_or_default(), "h"), to_text(request.start, "h"),
                    join(request.traces, " + "), to_text(ticks * gap, "h")));
  }

  DeadlineReplay replay{
      .game = *game, .gap = gap, .start = static_cast<int>(start), .zones = request.traces};
  replay.result = play_window(pool, replay.start, request.player);
  replay.on_demand_cost = play_window(pool, replay.start, Player::kOnDemand).cost;
  replay.optimum_cost = play_window(pool, replay.start, Player::kOptimum).cost;
  return replay;
}

}  // namespace stint
