#include "cli/render/render_replay.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/views/simulation_views.h"

namespace stint::cli {
namespace {

constexpr int kLabel = 8;      // "  12.5 h".
constexpr int kLinesMax = 12;  // A longer timeline is drawn coarser.
constexpr int kPipeWidth = 100;

/// Machine-ticks, by what was done with them.
struct Uses {
  int spot = 0;
  int on_demand = 0;
  int set_up = 0;
  int idle = 0;
  int missing = 0;  // Spot machines that were not there.
  int all = 0;
};

Uses uses_of(const DeadlineReplay& replay, std::size_t first, std::size_t last) {
  Uses uses;
  const int machines = replay.game.machines;
  for (std::size_t i = first; i < std::min(last, replay.result.ticks.size()); ++i) {
    const PlayedTick& tick = replay.result.ticks[i];
    const int held = tick.held.spot + tick.held.on_demand;
    uses.spot += tick.working.spot;
    uses.on_demand += tick.working.on_demand;
    uses.set_up += held - tick.working.spot - tick.working.on_demand;
    uses.idle += machines - held;
    uses.missing += machines - tick.available;
    uses.all += machines;
  }
  return uses;
}

/// What most of the machine-ticks were.
char mark_of(const Uses& uses) {
  const std::array<std::pair<int, char>, 4> marks{
      {{uses.spot, 'S'}, {uses.on_demand, 'D'}, {uses.set_up, '+'}, {uses.idle, '.'}}};
  const auto most = std::max_element(
      marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return most->second;
}

/// "a" for the first zone.
char zone_mark(int zone) { return static_cast<char>('a' + zone % 26); }

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string replay_timeline(const DeadlineReplay& replay, const Terminal& terminal) {
  const int width = std::max(20, (terminal.width == 0 ? kPipeWidth : terminal.width) - kLabel - 1);
  const auto ticks = replay.result.ticks.size();
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t group = (ticks + columns * kLinesMax - 1) / (columns * kLinesMax);
  std::string text;
  for (std::size_t first = 0; first < ticks; first += columns * group) {
    const double start = static_cast<double>(first);
    std::string marks = fmt::format("{:>{}} ", hours(start * replay.gap), kLabel);
    std::string missing(marks.size(), ' ');
    std::string zones(marks.size(), ' ');
    const std::size_t end = std::min(ticks, first + columns * group);
    for (std::size_t i = first; i < end; i += group) {
      const Uses uses = uses_of(replay, i, i + group);
      marks += mark_of(uses);
      missing += 2 * uses.missing > uses.all ? 'x' : ' ';
      zones += uses.spot > 0 ? zone_mark(replay.result.ticks[i].zone) : ' ';
    }
    text += trimmed(std::move(marks)) + trimmed(std::move(missing));
    if (replay.zones.size() > 1) text += trimmed(std::move(zones));
  }
  return text;
}

std::string replay_summary(const DeadlineReplay& replay) {
  const GameResult& result = replay.result;
  const Seconds deadline = replay.game.deadline * replay.gap;
  std::string text =
      result.finished ? fmt::format("Done after {}, {} before the deadline.",
                                    hours(*result.finished * replay.gap),
                                    hours(deadline - *result.finished * replay.gap))
                      : fmt::format("Missed the deadline of {}: on-demand, the rest takes {} more.",
                                    hours(deadline), hours(result.overdue * replay.gap));
  text +=
      fmt::format("\nPaid for {} of spot and {} of on-demand time, {} of it for set-up.\n",
                  hours(result.spot_ticks * replay.gap), hours(result.on_demand_ticks * replay.gap),
                  hours(result.set_up_ticks * replay.gap));
  if (replay.zones.size() > 1) {
    text += fmt::format("Moved {} between zones:",
                        counted(static_cast<std::size_t>(result.moves), "time"));
    for (std::size_t z = 0; z < replay.zones.size(); ++z) {
      text += fmt::format("{} {} {}", z == 0 ? "" : ",", zone_mark(static_cast<int>(z)),
                          without_controls(replay.zones[z]));
    }
    text += ".\n";
  }
  text += fmt::format(
      "Cost {:.3f} relative to on-demand only, {:.3f} relative to the clairvoyant optimum.\n",
      result.cost / replay.on_demand_cost, result.cost / replay.optimum_cost);
  return text;
}

Json replay_json(const DeadlineReplay& replay, const std::string& policy) {
  const GameResult& result = replay.result;
  const bool several = replay.zones.size() > 1;
  ReplayView view{.policy = policy,
                  .gap = replay.gap,
                  .start_tick = replay.start,
                  .deadline_ticks = replay.game.deadline,
                  .finished_tick = result.finished,
                  .overdue_ticks = result.overdue,
                  .cost = result.cost,
                  .cost_ratio_to_optimum = result.cost / replay.optimum_cost,
                  .cost_ratio_to_on_demand = result.cost / replay.on_demand_cost,
                  .moves = several ? std::optional(result.moves) : std::nullopt,
                  .ticks = {}};
  for (const PlayedTick& tick : result.ticks) {
    view.ticks.push_back({.zone = several ? std::optional(tick.zone) : std::nullopt,
                          .available = tick.available,
                          .spot = tick.held.spot,
                          .on_demand = tick.held.on_demand,
                          .spot_working = tick.working.spot,
                          .on_demand_working = tick.working.on_demand});
  }
  return encoded(view);
}

}  // namespace stint::cli
