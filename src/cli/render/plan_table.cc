#include "cli/render/plan_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

constexpr int kNever = 9;   // Importance of columns that are not dropped,
constexpr int kAlmost = 8;  // and of those that go last.

/// Columns of the table and their cells, by row.
struct PlanCells {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;

  void add(Column column, const std::vector<Plan>& plans, std::string (*cell)(const Plan&)) {
    columns.push_back(std::move(column));
    for (std::size_t i = 0; i < plans.size(); ++i) rows[i].push_back(cell(plans[i]));
  }
};

/// "1024", or "1024 (4×)" where gradients are accumulated over four micro-steps.
std::string batch_cell(const Plan& plan) {
  if (!plan.global_batch) return "";
  const int steps = plan.layout ? plan.layout->accumulation : 1;
  return steps > 1 ? fmt::format("{} ({}×)", *plan.global_batch, steps)
                   : std::to_string(*plan.global_batch);
}

template <class Field>
bool any_has(const std::vector<Plan>& plans, Field field) {
  return std::any_of(plans.begin(), plans.end(),
                     [&](const Plan& plan) { return (plan.*field).has_value(); });
}

PlanCells cells_of(const std::vector<Plan>& plans, const std::vector<std::string>& labels,
                   bool notes) {
  PlanCells cells;
  cells.columns.push_back({.title = "#", .align = Align::kRight, .importance = kNever});
  for (const std::string& label : labels) cells.rows.push_back({label});
  cells.add({.title = "cluster", .importance = kNever}, plans,
            [](const Plan& plan) { return to_text(plan.cluster); });
  cells.add({.title = "GPUs", .importance = 5, .width_min = 24}, plans, gpus_text);
  if (any_has(plans, &Plan::parallel_layout)) {
    cells.add({.title = "layout", .importance = 6, .width_min = 16}, plans,
              [](const Plan& plan) { return plan.parallel_layout.value_or("replicas"); });
  }
  cells.add(right("$/h", 4), plans,
            [](const Plan& plan) { return dollars(expected_rate(plan) * kHour); });
  cells.add({.title = "region", .importance = 3, .width_min = 9}, plans, region_text);
  cells.add(right("batch", 2), plans, batch_cell);
  cells.add(right("time (80 %)", kAlmost), plans,
            [](const Plan& plan) { return with_interval(plan.time); });
  cells.add(right("cost (80 %)", kAlmost), plans,
            [](const Plan& plan) { return with_interval(plan.cost); });
  if (any_has(plans, &Plan::p_deadline)) {
    cells.add(right("in time", 7), plans,
              [](const Plan& plan) { return percent(plan.p_deadline); });
  }
  if (any_has(plans, &Plan::p_budget)) {
    cells.add(right("in budget", 6), plans,
              [](const Plan& plan) { return percent(plan.p_budget); });
  }
  if (notes && any_has(plans, &Plan::note)) {
    cells.add({.title = "note", .importance = 0, .width_min = 20}, plans,
              [](const Plan& plan) { return plan.note.value_or(""); });
  }
  return cells;
}

int width_of_column(const PlanCells& cells, std::size_t column) {
  int width = display_width(cells.columns[column].title);
  for (const auto& row : cells.rows) width = std::max(width, display_width(row[column]));
  return width;
}

/// Texts of clusters are cut only where they leave no room for time and cost.
void keep_clusters_whole(PlanCells& cells, const Terminal& terminal) {
  constexpr int kGap = 2;
  constexpr int kLeast = 24;
  constexpr std::size_t kCluster = 1;
  const int whole = width_of_column(cells, kCluster);
  int room = terminal.width > 0 ? terminal.width : whole + 1000;
  for (std::size_t i = 0; i < cells.columns.size(); ++i) {
    // Whether a plan is in time belongs to its time.
    if (i != kCluster && cells.columns[i].importance >= 7) {
      room -= width_of_column(cells, i) + kGap;
    }
  }
  cells.columns[kCluster].width_min = std::clamp(room, kLeast, std::max(kLeast, whole));
}

Table table_of(const PlanCells& cells) {
  Table table(cells.columns);
  for (const auto& row : cells.rows) table.add(row);
  return table;
}

/// Whether the rows have equal cells in the columns; their numbers aside.
bool alike(const PlanCells& cells, std::size_t a, std::size_t b,
           const std::vector<std::size_t>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](std::size_t column) {
    return column == 0 || cells.rows[a][column] == cells.rows[b][column];
  });
}

/// A hidden column that tells two rows apart which the shown ones do not.
std::optional<std::size_t> missing_column(const PlanCells& cells,
                                          const std::vector<std::size_t>& shown) {
  for (std::size_t a = 0; a < cells.rows.size(); ++a) {
    for (std::size_t b = a + 1; b < cells.rows.size(); ++b) {
      if (!alike(cells, a, b, shown)) continue;
      for (std::size_t column = 1; column < cells.columns.size(); ++column) {
        if (cells.rows[a][column] != cells.rows[b][column]) return column;
      }
    }
  }
  return std::nullopt;
}

/// Makes columns that tell plans apart more important, as far as the terminal has room.
void show_differences(PlanCells& cells, const Terminal& terminal) {
  for (std::size_t tries = 0; tries < cells.columns.size(); ++tries) {
    const auto column = missing_column(cells, table_of(cells).shown_columns(terminal));
    if (!column || cells.columns[*column].importance == kNever) return;
    cells.columns[*column].importance = kNever;
  }
}

/// Of rows that no column tells apart the first.
void unite_equals(PlanCells& cells) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < cells.columns.size(); ++i) all.push_back(i);
  std::vector<std::vector<std::string>> kept;
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    bool first = true;
    for (std::size_t other = 0; other < row; ++other)
      first = first && !alike(cells, row, other, all);
    if (first) kept.push_back(cells.rows[row]);
  }
  cells.rows = std::move(kept);
}

/// "network not measured: plans 1, 2; knee: plan 8."
std::string notes_below(const std::vector<Plan>& plans, const std::vector<std::string>& labels,
                        const Terminal& terminal) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].note) continue;
    for (const std::string& note : split(*plans[i].note, ';')) {
      const auto known = std::find_if(notes.begin(), notes.end(),
                                      [&](const auto& it) { return it.first == note; });
      auto& numbers =
          known == notes.end() ? notes.emplace_back(note, std::vector<std::string>{}) : *known;
      numbers.second.push_back(labels[i]);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [note, numbers] : notes) {
    texts.push_back(
        fmt::format("{}: {} {}", note, numbers.size() > 1 ? "plans" : "plan", join(numbers, ", ")));
  }
  if (texts.empty()) return "";
  return wrapped("Notes: " + without_controls(join(texts, "; ")) + ".", terminal.width, 2) + "\n";
}

/// What the mark means, where a plan has it.
std::string unvalidated_explained(const std::vector<Plan>& plans, const Terminal& terminal) {
  const bool marked = std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return plan.note && plan.note->find("unvalidated") != std::string::npos;
  });
  if (!marked) return "";
  return wrapped("Unvalidated: no measurement of that GPU is behind its times (docs/planning.md).",
                 terminal.width, 2) +
         "\n";
}

}  // namespace

std::string market_text(const Plan& plan) {
  for (const auto& [value, name] : names_of(PlanMarket{})) {
    if (value == plan.market) return name;
  }
  return "";
}

std::string region_text(const Plan& plan) {
  return plan.prediction && plan.prediction->price ? plan.prediction->price->region : "";
}

std::string gpus_text(const Plan& plan) {
  if (!plan.prediction) return "";
  std::vector<std::pair<std::string, int>> devices;
  for (const PredictedGroup& group : plan.prediction->groups) {
    const auto known = std::find_if(devices.begin(), devices.end(),
                                    [&](const auto& it) { return it.first == group.device; });
    auto& device = known == devices.end() ? devices.emplace_back(group.device, 0) : *known;
    device.second += group.vms * group.workers_per_vm;
  }
  std::vector<std::string> texts;
  for (const auto& [name, count] : devices) texts.push_back(fmt::format("{}x {}", count, name));
  return join(texts, " + ");
}

DollarsPerSecond expected_rate(const Plan& plan) {
  return plan.time.mean > Seconds{} ? plan.cost.mean / plan.time.mean : DollarsPerSecond{};
}

std::string plan_table(const std::vector<Plan>& plans, const Terminal& terminal,
                       std::vector<std::string> labels) {
  for (std::size_t i = labels.size(); i < plans.size(); ++i)
    labels.push_back(std::to_string(i + 1));
  PlanCells cells = cells_of(plans, labels, true);
  keep_clusters_whole(cells, terminal);
  const std::vector<std::size_t> shown = table_of(cells).shown_columns(terminal);
  const std::size_t last = cells.columns.size() - 1;
  const bool notes_hidden = cells.columns[last].title == "note" &&
                            std::find(shown.begin(), shown.end(), last) == shown.end();
  if (notes_hidden) {
    cells = cells_of(plans, labels, false);
    keep_clusters_whole(cells, terminal);
  }
  unite_equals(cells);
  show_differences(cells, terminal);
  return table_of(cells).text(terminal) +
         (notes_hidden ? notes_below(plans, labels, terminal) : "") +
         unvalidated_explained(plans, terminal);
}

}  // namespace stint::cli
