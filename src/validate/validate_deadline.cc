#include "validate/validate_deadline.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/date.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "measure/tables/lifetime_table.h"
#include "simulate/deadline_replay.h"
#include "simulate/synthetic_pool.h"

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

/// The simulated pools, and their sources.
struct Board {
  std::vector<ReplayPool> pools;
  std::vector<std::string> names;  // Names of each pool's trace.
  std::vector<int> slots;          // Slot of each pool; 0: it is the whole trace.
  std::vector<ReplayWindow> windows;
  std::vector<std::string> notes;
};

/// The i-th machine of a pool is available when at least i are; 0 leaves the counts unchanged.
std::vector<int> slot_of(std::vector<int> counts, int slot) {
  if (slot == 0) return counts;
  for (int& count : counts) count = count >= slot ? 1 : 0;
  return counts;
}

/// The counts of the traces to fit in ticks of `gap`, without those that are simulated.
std::vector<std::vector<int>> others_of(std::span<const AvailabilityTrace> played, Seconds gap,
                                        const std::vector<AvailabilityTrace>& fit, int slot) {
  std::vector<std::vector<int>> others;
  for (const AvailabilityTrace& other : fit) {
    const bool is_played =
        std::any_of(played.begin(), played.end(), [&](const AvailabilityTrace& trace) {
          return other.gap == trace.gap && other.counts == trace.counts;
        });
    if (!is_played) others.push_back(slot_of(resampled(other, gap), slot));
  }
  return others;
}

Status add_place(const ValidateDeadlineRequest& request, std::span<const AvailabilityTrace> traces,
                 const std::vector<AvailabilityTrace>& fit, Board& board) {
  const Seconds gap = traces.front().gap;
  const std::vector<std::vector<int>> zones = side_by_side(traces);
  std::string name = traces.front().name;
  for (const AvailabilityTrace& zone : traces.subspan(1)) name += " + " + zone.name;
  const auto game = game_in_ticks(request.terms, gap);
  if (!game.ok()) return game.error();
  if (zones.front().size() < static_cast<std::size_t>(game->deadline)) {
    board.notes.push_back(fmt::format("{} is shorter than one window and is skipped", name));
    return {};
  }
  const int step = window_step_in_ticks(request.window_step, *game, gap);
  const int last = request.slots.value_or(0);
  for (int slot = std::min(1, last); slot <= last; ++slot) {
    ReplayPool pool{.game = *game,
                    .gap = gap,
                    .zones = zones,
                    .prior = learned_prior(*game, gap, others_of(traces, gap, fit, slot))};
    for (std::vector<int>& zone : pool.zones) zone = slot_of(std::move(zone), slot);
    for (const int start : window_starts(pool, step)) {
      board.windows.push_back({board.pools.size(), start});
    }
    board.pools.push_back(std::move(pool));
    board.names.push_back(name);
    board.slots.push_back(slot);
  }
  return {};
}

Status check(const ValidateDeadlineRequest& request) {
  if (request.traces.empty()) {
    return bad_usage(
        "--traces is required: files with the number of spot machines over time, or --synthetic");
  }
  if (request.slots && request.terms.machines != 1) {
    return bad_usage("--slots plays single machines; leave out --machines");
  }
  if (request.traces.size() % static_cast<std::size_t>(request.zones) != 0) {
    return bad_usage(fmt::format("--traces has {}, which is not a multiple of --zones {}",
                                 counted(request.traces.size(), "file"), request.zones));
  }
  if (request.window_step && !(*request.window_step > Seconds{})) {
    return bad_usage("--window-step must be above zero");
  }
  return {};
}

Result<Board> board_of(const ValidateDeadlineRequest& request) {
  const auto traces = load_traces(request.traces);
  if (!traces.ok()) return traces.error();
  const auto fit = load_traces(request.fit);
  if (!fit.ok()) return fit.error();
  Board board;
  const auto at_once = static_cast<std::size_t>(request.zones);
  for (std::size_t i = 0; i < traces->size(); i += at_once) {
    const std::span<const AvailabilityTrace> played{traces->data() + i, at_once};
    const Status added = add_place(request, played, *fit, board);
    if (!added.ok()) return added.error();
  }
  if (!board.windows.empty()) return board;
  return bad_input(
      fmt::format("{}: shorter than one window of {}; give longer traces or a shorter "
                  "--deadline",
                  join(request.traces, ", "), to_text(request.terms.deadline_or_default(), "h")));
}

std::string windows_csv(const Board& board, std::span<const WindowOutcome> outcomes,
                        bool with_slots) {
  std::vector<std::string> header{"trace", "start_tick"};
  if (with_slots) header.emplace_back("slot");
  for (const auto& [player, game] : outcomes.front().games) {
    header.push_back(fmt::format("{}_cost", name_of(player)));
    header.push_back(fmt::format("{}_missed", name_of(player)));
  }
  std::string csv = csv_line(header);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ReplayWindow& window = board.windows[i];
    std::vector<std::string> cells{board.names[window.pool], fmt::to_string(window.start)};
    if (with_slots) cells.push_back(fmt::to_string(board.slots[window.pool]));
    for (const auto& [player, game] : outcomes[i].games) {
      cells.push_back(fmt::format("{:.6g}", game.cost));
      cells.emplace_back(game.missed ? "1" : "0");
    }
    csv += csv_line(cells);
  }
  return csv;
}

}  // namespace

Result<DeadlineValidation> validate_deadline_synthetic(const SyntheticDeadlineRequest& request) {
  if (request.pools > kPoolsMax / request.zones) {
    return bad_usage(fmt::format("--pools {} of --zones {} are too many: the maximum is {} in all",
                                 request.pools, request.zones, kPoolsMax));
  }
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

Result<std::string> add_refusals(const std::string& file, std::vector<ReplayPool>& pools) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto failures = read_creation_failures(*text, file);
  if (!failures.ok()) return failures.error();
  const auto pattern = refusal_pattern(*failures, file);
  if (!pattern.ok()) return pattern.error();
  Seconds longest;
  for (ReplayPool& pool : pools) {
    // Starts after the deadline may be refused, too.
    pool.refused = refused_ticks(*pattern, pool.gap, 2 * pool.game.deadline);
    longest = std::max(longest, pool.game.deadline * pool.gap);
  }
  const auto within = std::count_if(pattern->times.begin(), pattern->times.end(),
                                    [&](Seconds time) { return time < longest; });
  return fmt::format(
      "{} {} of {}: the first {} from {} on, with {}, begin with every window", pattern->provider,
      pattern->device.empty() ? "(GPU not stated)" : pattern->device, file, to_text(longest, "h"),
      to_text(date_at(pattern->first)), counted(static_cast<std::size_t>(within), "failed start"));
}

Result<DeadlineValidation> validate_deadline(const ValidateDeadlineRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  auto board = board_of(request);
  if (!board.ok()) return board.error();
  DeadlineValidation validation{.notes = board->notes};
  if (!request.refusals.empty()) {
    const auto refusals = add_refusals(request.refusals, board->pools);
    if (!refusals.ok()) return refusals.error();
    validation.refusals = *refusals;
  }

  const std::vector<WindowOutcome> outcomes =
      replay(board->pools, board->windows, request.progress);
  validation.windows = static_cast<int>(outcomes.size());
  validation.policies = score_windows(outcomes);
  std::map<std::string, std::vector<WindowOutcome>> by_trace;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    by_trace[board->names[board->windows[i].pool]].push_back(outcomes[i]);
  }
  for (const auto& [name, of_trace] : by_trace) {
    validation.traces[name] = {.windows = static_cast<int>(of_trace.size()),
                               .policies = score_windows(of_trace)};
  }
  if (!request.windows.empty()) {
    const Status written =
        write_output(request.windows, windows_csv(*board, outcomes, request.slots.has_value()));
    if (!written.ok()) return written.error();
  }
  return validation;
}

}  // namespace stint
