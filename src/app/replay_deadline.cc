#include "app/replay_deadline.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/unit_text.h"

namespace stint {

Result<DeadlineReplay> replay_deadline(const ReplayDeadlineRequest& request) {
  if (request.trace.empty()) {
    return bad_usage("--trace is missing: a file of how many spot machines there were");
  }
  const auto traces = load_traces({request.trace});
  if (!traces.ok()) return traces.error();
  const AvailabilityTrace& trace = traces->front();
  const auto game = game_in_ticks(request.terms, trace.gap);
  if (!game.ok()) return game.error();
  const double start = std::round(request.start / trace.gap);
  const auto ticks = static_cast<double>(trace.counts.size());
  if (!(start >= 0) || !(start + game->deadline <= ticks)) {
    return bad_usage(
        fmt::format("a window of {} that begins at {} does not lie within {}, which "
                    "lasts {}",
                    to_text(request.terms.deadline_or_default(), "h"), to_text(request.start, "h"),
                    trace.name, to_text(ticks * trace.gap, "h")));
  }

  const ReplayPool pool{.game = *game,
                        .gap = trace.gap,
                        .counts = trace.counts,
                        .prior = learned_prior(*game, trace.gap, {})};
  DeadlineReplay replay{.game = *game, .gap = trace.gap, .start = static_cast<int>(start)};
  const auto first = trace.counts.begin() + replay.start;
  for (auto count = first; count != first + game->deadline; ++count) {
    replay.available.push_back(std::min(*count, game->machines));
  }
  replay.result = play_window(pool, replay.start, request.player);
  replay.on_demand_cost = play_window(pool, replay.start, Player::kOnDemand).cost;
  replay.optimum_cost = play_window(pool, replay.start, Player::kOptimum).cost;
  return replay;
}

}  // namespace stint
