#include "app/run/run_market.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "measure/tables/availability_trace.h"

namespace stint {
namespace {

constexpr std::string_view kHazard = "hazard:";
constexpr std::string_view kSpells = "spells:";
constexpr std::string_view kTrace = "trace:";

constexpr Seconds kMeanMin = 1 * kSecond;
constexpr double kChangesMax = 1e5;    // Of a drawn market: 64 machines lost daily for two years.
constexpr Seconds kDrawn = 2 * kHour;  // Of the emulated market; no run there takes as long.

Result<Seconds> mean_of(std::string_view text, const char* option) {
  const auto mean = parse_quantity<Seconds>(text);
  if (!mean.ok()) return bad_usage(fmt::format("{}: {}", option, mean.error().message));
  if (*mean <= Seconds{}) return bad_usage(fmt::format("{} needs a mean above zero", option));
  if (*mean >= kMeanMin) return *mean;
  return bad_usage(fmt::format("{}: a mean of {} is shorter than {}, in which no machine starts",
                               option, to_text(*mean), to_text(kMeanMin)));
}

/// As many as there are machines that may come from the spot market.
int places_of(const RunPlan& plan) {
  int places = 0;
  for (const RunMachines& machines : plan.machines) places += machines.trains ? machines.count : 0;
  return places;
}

Status follow_trace(const std::string& file, double speed, PreparedRun& run) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto trace = read_availability_trace(*text, file, speed * kSecond);
  if (!trace.ok()) return trace.error();
  const Seconds gap = trace->gap / speed;
  for (std::size_t tick = 0; tick < trace->counts.size(); ++tick) {
    const int count = trace->counts[tick];
    if (!run.record.pool.empty() && run.record.pool.back().spot == count) continue;
    run.record.pool.push_back({.at = static_cast<double>(tick) * gap, .spot = count});
  }
  return {};
}

}  // namespace

Result<SpotSpells> parse_spells(const std::string& text, const char* option) {
  const std::string_view life = text;
  if (life.starts_with(kHazard)) {
    const auto mean = mean_of(life.substr(kHazard.size()), option);
    if (!mean.ok()) return mean.error();
    return SpotSpells{.stay = *mean};
  }
  const std::size_t slash = life.find('/');
  if (life.starts_with(kSpells) && slash != std::string_view::npos) {
    const auto stay = mean_of(life.substr(kSpells.size(), slash - kSpells.size()), option);
    if (!stay.ok()) return stay.error();
    const auto away = mean_of(life.substr(slash + 1), option);
    if (!away.ok()) return away.error();
    return SpotSpells{.stay = *stay, .away = *away};
  }
  return bad_usage(fmt::format(
      "{} must be hazard:MEAN, spells:UP/DOWN{}, for example spells:60s/20s, not "
      "'{}'",
      option, std::string_view(option) == "--life" ? " or trace:FILE" : "", printable(text)));
}

std::vector<CapacityChange> draw_capacity(const SpotSpells& spells, int places, Seconds horizon,
                                          Random random) {
  std::vector<std::pair<Seconds, int>> steps;  // When a machine comes (+1) or goes (−1).
  const Seconds away = spells.away.value_or(Seconds{});
  const double expected = 2.0 * places * (horizon / (spells.stay + away));
  if (expected > kChangesMax) horizon = horizon * (kChangesMax / expected);
  for (int place = 0; place < places; ++place) {
    for (Seconds at = spells.stay * random.exponential(); at < horizon;) {
      steps.emplace_back(at, -1);
      at += away * random.exponential();
      steps.emplace_back(at, 1);
      at += spells.stay * random.exponential();
    }
  }
  std::sort(steps.begin(), steps.end());
  std::vector<CapacityChange> changes = {{.at = Seconds{}, .machines = places}};
  for (const auto& step : steps) {
    changes.push_back({.at = step.first, .machines = changes.back().machines + step.second});
  }
  return changes;
}

Status set_market(const RunRequest& request, PreparedRun& run) {
  RunRecord& record = run.record;
  record.seed = static_cast<std::int64_t>(request.seed);
  if (!request.expect.empty()) {
    const auto believed = parse_spells(request.expect, "--expect");
    if (!believed.ok()) return believed.error();
    record.expected = *believed;
  }
  if (request.life.empty()) return {};
  if (std::string_view(request.life).starts_with(kTrace)) {
    return follow_trace(request.life.substr(kTrace.size()), request.trace_speed, run);
  }
  const auto spells = parse_spells(request.life, "--life");
  if (!spells.ok()) return spells.error();
  if (request.expect.empty()) record.expected = *spells;
  if (!spells->away) {
    record.life = spells->stay;
    return {};
  }
  const Random random(request.seed);
  for (const CapacityChange& change :
       draw_capacity(*spells, places_of(record.plan), kDrawn, random)) {
    run.record.pool.push_back({.at = change.at, .spot = change.machines});
  }
  return {};
}

}  // namespace stint
