#include "cli/render/render_search.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/csv.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/charts.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"

namespace stint::cli {
namespace {

constexpr double kCell = 72;  // Pixels of a place on the map.
constexpr double kCellHeight = 34;

std::string probes_table(const SearchRecord& search, const Terminal& terminal) {
  Table table({{.title = "timed", .importance = 9},
               {.title = "batch", .align = Align::kRight, .importance = 9},
               {.title = "at", .align = Align::kRight, .importance = 5},
               {.title = "step", .align = Align::kRight, .importance = 8},
               {.title = "predicted (80 %)", .align = Align::kRight, .importance = 6}});
  for (const SearchProbe& probe : search.probes) {
    table.add({cluster_text(choice_of(probe)), fmt::format("{}", probe.batch), duration(probe.at),
               milliseconds(probe.step), range_text(probe.predicted)});
  }
  return table.text(terminal, "-o json");
}

double value_of(const SearchRecord& search, const SurfaceRow& row) {
  return search.objective == "cost" ? row.cost.in(kDollar) : row.time.in(kSecond);
}

/// The best setups by what is known, from the beginning to the goal.
std::string best_table(const SearchRecord& search, const Terminal& terminal) {
  constexpr std::size_t kShown = 5;
  std::vector<const SurfaceRow*> rows;
  for (const SurfaceRow& row : search.surface) {
    if (!row.ruled_out) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const SurfaceRow* a, const SurfaceRow* b) {
    return value_of(search, *a) < value_of(search, *b);
  });
  Table table({{.title = "best setups (predicted)", .importance = 9},
               {.title = "batch", .align = Align::kRight, .importance = 9},
               {.title = "step (80 %)", .align = Align::kRight, .importance = 5},
               {.title = "steps", .align = Align::kRight, .importance = 4},
               {.title = "time", .align = Align::kRight, .importance = 8},
               {.title = "cost", .align = Align::kRight, .importance = 8}});
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i) {
    const SurfaceRow& row = *rows[i];
    table.add({cluster_text(choice_of(row)), fmt::format("{}", row.batch), range_text(row.step),
               fmt::format("{:.0f}", row.steps), duration(row.time), bill_text(row.cost)});
  }
  return table.text(terminal, "-o csv");
}

std::string moves_table(const SearchRecord& search, const Terminal& terminal) {
  Table table({{.title = "move", .importance = 9},
               {.title = "batch", .align = Align::kRight, .importance = 9},
               {.title = "at", .align = Align::kRight, .importance = 6},
               {.title = "for", .importance = 4},
               {.title = "stall", .align = Align::kRight, .importance = 8},
               {.title = "predicted (80 %)", .align = Align::kRight, .importance = 7}});
  for (const SearchedMove& move : search.moves) {
    table.add({"to " + cluster_text(move.to), fmt::format("{}", move.to.batch), duration(move.at),
               move.probe ? "probe" : "stay", move.measured ? duration(*move.measured) : "not made",
               range_text(move.predicted)});
  }
  return table.text(terminal, "-o json");
}

/// From good (0) to bad (1), as a colour that can be told apart by everybody.
std::string colour(double badness) {
  const double bad = std::clamp(badness, 0.0, 1.0);
  return fmt::format("hsl({:.0f} 55% {:.0f}%)", 215 - 190 * bad, 72 - 12 * bad);
}

struct Extent {
  double least = 0;
  double most = 0;
};

Extent extent_of(const SearchRecord& search) {
  Extent extent;
  for (const SurfaceRow& row : search.surface) {
    if (row.ruled_out) continue;
    const double value = value_of(search, row);
    if (extent.least == 0 || value < extent.least) extent.least = value;
    extent.most = std::max(extent.most, value);
  }
  return extent;
}

std::string cell_picture(const SearchRecord& search, const SurfaceRow& row, const Extent& extent,
                         double x, double y) {
  const double value = value_of(search, row);
  const double span = std::log(extent.most / extent.least);
  const double bad = span > 0 ? std::log(value / extent.least) / span : 0;
  const std::string text = search.objective == "cost" ? bill_text(row.cost) : duration(row.time);
  std::string picture = fmt::format(
      "<rect x={:.0f} y={:.0f} width={:.0f} height={:.0f} fill=\"{}\" stroke=\"{}\" "
      "stroke-width=2><title>{}, batch {}: step {}, {:.0f} steps, {}, {}</title></rect>",
      x, y, kCell - 3, kCellHeight - 3, row.ruled_out ? "none" : colour(bad),
      row.timed ? "var(--ink)" : "none", cluster_text(choice_of(row)), row.batch,
      range_text(row.step), row.steps, duration(row.time), bill_text(row.cost));
  picture +=
      fmt::format("<text x={:.0f} y={:.0f} text-anchor=middle style=\"fill:#111\">{}</text>",
                  x + kCell / 2 - 1, y + kCellHeight / 2 + 3, row.ruled_out ? "memory" : text);
  if (search.choice == choice_of(row)) {
    picture += fmt::format("<circle cx={:.0f} cy={:.0f} r=4 fill=\"#111\"/>", x + 9, y + 9);
  }
  return picture;
}

/// The heading of a map: the types of the VMs, and their workers.
std::string map_title(const SurfaceRow& row) {
  if (!row.workers_per_vm) return row.type;
  return fmt::format("{}, {} workers per VM", row.type, *row.workers_per_vm);
}

/// A column of a map: the number of VMs, of each kind where they differ.
std::pair<int, std::string> column_of(const SurfaceRow& row) {
  const bool spot = row.cluster.find(":spot") != std::string::npos;
  if (row.cluster.find(" + ") == std::string::npos) {
    const char* market = spot ? "spot " : "";
    return {row.vms, fmt::format("{} {}VM{}", row.vms, market, row.vms == 1 ? "" : "s")};
  }
  std::vector<std::string> counts;
  for (const std::string& part : split(row.cluster, '+')) {
    counts.push_back(std::string(trim(std::string_view(part).substr(0, part.find('x')))));
  }
  return {row.vms, join(counts, "+") + (spot ? " (spot)" : "")};
}

std::string map_under(const SearchRecord& search, const std::string& title, const Extent& extent) {
  std::set<std::pair<int, std::string>> columns;
  std::set<int> batches;
  for (const SurfaceRow& row : search.surface) {
    if (map_title(row) != title) continue;
    columns.insert(column_of(row));
    batches.insert(row.batch);
  }
  constexpr double kLeft = 60;
  constexpr double kTop = 20;
  std::string cells;
  for (const SurfaceRow& row : search.surface) {
    if (map_title(row) != title) continue;
    const auto column = std::distance(columns.begin(), columns.find(column_of(row)));
    const auto line = std::distance(batches.begin(), batches.find(row.batch));
    cells += cell_picture(search, row, extent, kLeft + kCell * static_cast<double>(column),
                          kTop + kCellHeight * static_cast<double>(line));
  }
  double at = kLeft;
  for (const auto& [vms, label] : columns) {
    cells += fmt::format("<text x={:.0f} y=14 text-anchor=middle>{}</text>", at + kCell / 2, label);
    at += kCell;
  }
  double down = kTop;
  for (const int batch : batches) {
    cells += fmt::format("<text x={:.0f} y={:.0f} text-anchor=end>{}</text>", kLeft - 8,
                         down + kCellHeight / 2 + 3, batch);
    down += kCellHeight;
  }
  return fmt::format(
      "<p class=lead>{}</p><div class=scroll><svg width={:.0f} height={:.0f}>{}"
      "</svg></div>",
      title, at + 10, down + 6, cells);
}

}  // namespace

std::string search_text(const SearchRecord& search, const Terminal& terminal) {
  std::string text;
  if (!search.probes.empty()) text += probes_table(search, terminal) + "\n";
  if (!search.moves.empty()) text += moves_table(search, terminal) + "\n";
  if (!search.surface.empty()) text += best_table(search, terminal) + "\n";
  if (search.choice) {
    text += sheet_line(
        "choice",
        fmt::format("{} at batch size {}", cluster_text(*search.choice), search.choice->batch),
        terminal);
  }
  if (!search.noise.empty()) {
    const SearchNoise& last = search.noise.back();
    text += sheet_line(
        "noise",
        fmt::format("{:.0f} samples ({:.0f}–{}) at batch size {}, after {} of the training",
                    last.scale, last.lower, last.upper ? fmt::format("{:.0f}", *last.upper) : "any",
                    last.batch, percent(last.way)),
        terminal);
  }
  for (const std::string& warning : search.warnings) {
    text += sheet_line("note", warning, terminal);
  }
  return text;
}

std::string search_outline(const PreparedSearch& search, const Terminal& terminal) {
  const LiveSetup& start = search.setups[search.start];
  std::string text = fmt::format(
      "Search {}: {} setups, to {} at batch size {}; starts on {} at batch size {}.\n",
      search.record.name, search.setups.size(),
      search.record.loss_target ? fmt::format("a loss of {:.4g} (estimate: {:.0f} steps",
                                              *search.record.loss_target, search.record.goal)
                                : fmt::format("{:.0f} steps", search.record.goal),
      search.record.reference_batch, cluster_text(start.choice), start.choice.batch);
  if (search.record.loss_target) {
    text.insert(text.find("; starts"), ")");
  }
  Table table({{.title = "move to", .importance = 9},
               {.title = "batch", .align = Align::kRight, .importance = 9},
               {.title = "for", .importance = 5},
               {.title = "time", .align = Align::kRight, .importance = 7},
               {.title = "cost", .align = Align::kRight, .importance = 7}});
  Seconds time;
  Dollars cost;
  for (const ForeseenProbe& probe : foresee(search)) {
    table.add({cluster_text(probe.choice), fmt::format("{}", probe.choice.batch),
               probe.stays ? "stay" : "probe", duration(probe.time), bill_text(probe.cost)});
    time += probe.time;
    cost += probe.cost;
  }
  if (table.rows() == 0) {
    return text +
           "No probe is expected to pay for itself: the search would stay on its starting setup.\n";
  }
  return text + table.text(terminal, "-o json") +
         fmt::format("If all predictions hold, the probes take {} and {}.\n", duration(time),
                     bill_text(cost));
}

std::string surface_csv(const SearchRecord& search) {
  std::string text =
      csv_line({"cluster", "type", "vms", "workers_per_vm", "batch", "step_s", "step_p10_s",
                "step_p90_s", "steps", "time_s", "cost_usd", "timed", "ruled_out", "chosen"});
  for (const SurfaceRow& row : search.surface) {
    const bool chosen = search.choice == choice_of(row);
    text += csv_line(
        {row.cluster, row.type, fmt::format("{}", row.vms),
         fmt::format("{}", row.workers_per_vm.value_or(1)), fmt::format("{}", row.batch),
         fmt::format("{:.6g}", row.step.mean.in(kSecond)),
         fmt::format("{:.6g}", row.step.p10.in(kSecond)),
         fmt::format("{:.6g}", row.step.p90.in(kSecond)), fmt::format("{:.6g}", row.steps),
         fmt::format("{:.6g}", row.time.in(kSecond)), fmt::format("{:.6g}", row.cost.in(kDollar)),
         row.timed ? "1" : "0", row.ruled_out ? "1" : "0", chosen ? "1" : "0"});
  }
  return text;
}

Json search_json(const RunReport& report, const std::string& shortfall) {
  const RunStory& story = report.story;
  std::string outcome = story.outcome ? std::string(name_of(*story.outcome)) : "running";
  if (!shortfall.empty()) outcome = "target-missed";
  return encoded(SearchView{.record = *report.search,
                            .outcome = outcome,
                            .reason = shortfall.empty() ? story.reason : shortfall,
                            .time = story.time,
                            .cost = story.cost,
                            .steps = story.saved,
                            .redone = story.redone});
}

std::string search_map(const SearchRecord& search) {
  const Extent extent = extent_of(search);
  if (!(extent.least > 0)) return "";
  std::set<std::string> titles;
  for (const SurfaceRow& row : search.surface) titles.insert(map_title(row));
  std::string page =
      fmt::format("<h2>Batch size and cluster: predicted {} of the whole training</h2>",
                  search.objective == "cost" ? "cost" : "time");
  page += legend({{fmt::format("background:{}", colour(0)), "lowest"},
                  {fmt::format("background:{}", colour(1)), "highest"},
                  {"border:2px solid var(--ink)", "timed"},
                  {"", "chosen", "●"}});
  for (const std::string& title : titles) page += map_under(search, title, extent);
  return page;
}

}  // namespace stint::cli
