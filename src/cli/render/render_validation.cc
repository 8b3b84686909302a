#include "cli/render/render_validation.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"
#include "base/table.h"

namespace stint::cli {
namespace {

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

/// A line of the table.
struct Line {
  std::string name;
  std::string model;
  Score score;
};

std::vector<Column> columns_of(const std::string& title, bool skipped) {
  std::vector<Column> columns = {
      {.title = title, .importance = 9},
      {.title = "model", .importance = 8, .width_min = 16},
      {.title = "n", .align = Align::kRight, .importance = 7},
      {.title = "mean error", .align = Align::kRight, .importance = 9},
      {.title = "median", .align = Align::kRight, .importance = 5},
      {.title = "90 % below", .align = Align::kRight, .importance = 4},
      {.title = "in 80 % interval", .align = Align::kRight, .importance = 6},
      {.title = "interval score", .align = Align::kRight, .importance = 2}};
  if (skipped) columns.push_back({.title = "skipped", .align = Align::kRight, .importance = 6});
  return columns;
}

std::string table_text(const std::string& title, const std::vector<Line>& lines,
                       const Terminal& terminal) {
  const bool skipped = std::any_of(lines.begin(), lines.end(),
                                   [](const Line& line) { return line.score.skipped > 0; });
  Table table(columns_of(title, skipped));
  for (const auto& [name, model, score] : lines) {
    const bool scored = score.n > 0;
    std::vector<std::string> cells = {
        name,
        model,
        fmt::to_string(score.n),
        scored ? percent(score.mape) : "",
        scored ? percent(score.median_ape) : "",
        scored ? percent(score.p90_ape) : "",
        score.coverage80 ? percent(*score.coverage80) : "",
        score.interval_score ? fmt::format("{:.2f}", *score.interval_score) : ""};
    if (skipped) cells.push_back(fmt::to_string(score.skipped));
    table.add(std::move(cells));
  }
  return table.text(terminal, "-o json");
}

}  // namespace

std::string score_table(const std::string& title, const std::vector<NamedScores>& models,
                        const Terminal& terminal) {
  CHECK(!models.empty());
  std::vector<Line> lines;
  for (const auto& [name, first] : models.front().rows) {
    for (const NamedScores& model : models) {
      const auto found = model.rows.find(name);
      if (found != model.rows.end()) lines.push_back({name, model.model, found->second});
    }
  }
  return table_text(title, lines, terminal);
}

std::string validation_table(const std::vector<Validation>& validations, const Terminal& terminal) {
  CHECK(!validations.empty());
  std::vector<Line> lines;
  const auto add_all = [&](const std::string& name, auto score_of) {
    for (const Validation& validation : validations) {
      const Score* score = score_of(validation);
      if (score != nullptr) lines.push_back({name, validation.baseline.value_or("stint"), *score});
    }
  };
  for (const auto& [job, first] : validations.front().jobs) {
    const std::string& name = job;
    add_all(name, [&](const Validation& validation) -> const Score* {
      const auto found = validation.jobs.find(name);
      return found == validation.jobs.end() ? nullptr : &found->second;
    });
  }
  if (validations.front().jobs.size() > 1)
    add_all("mean over jobs", [](const Validation& it) { return &it.mean_over_jobs; });
  add_all("all rows", [](const Validation& it) { return &it.overall; });
  return table_text("job", lines, terminal);
}

}  // namespace stint::cli
