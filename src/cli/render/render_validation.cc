#include "cli/render/render_validation.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/check.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

/// Name and score of each line: jobs, then all of them.
struct VerdictLine {
  std::string name;
  const Score* score;
};

std::vector<VerdictLine> lines_of(const Validation& validation) {
  std::vector<VerdictLine> lines;
  for (const auto& [name, score] : validation.jobs) lines.push_back({name, &score});
  if (lines.size() > 1) lines.push_back({"mean over jobs", &validation.mean_over_jobs});
  lines.push_back({"all rows", &validation.overall});
  return lines;
}

std::string model_name(const Validation& validation) {
  return validation.baseline.value_or("stint");
}

bool of_verdicts(const Validation& validation) { return validation.overall.accuracy.has_value(); }

Table verdict_table(const ValidationReport& report) {
  std::vector<Column> columns{{.title = "", .importance = 9}, right("n", 8)};
  std::vector<const Validation*> models{&report.validation};
  for (const Validation& it : report.beside) models.push_back(&it);
  for (const Validation* it : models) {
    columns.push_back(right(model_name(*it) + " right", 7));
    columns.push_back(right("balanced", 6));
  }
  columns.push_back(right("skipped", 1));
  Table table(std::move(columns));
  const auto lines = lines_of(report.validation);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> row{lines[i].name, fmt::format("{}", lines[i].score->n)};
    for (const Validation* it : models) {
      // A model that predicts fewer rows has fewer groups.
      const auto others = lines_of(*it);
      const auto same = std::find_if(others.begin(), others.end(), [&](const VerdictLine& line) {
        return line.name == lines[i].name;
      });
      const bool found = same != others.end();
      row.push_back(found ? tenths(same->score->accuracy) : "");
      row.push_back(found ? tenths(same->score->balanced_accuracy) : "");
    }
    row.push_back(fmt::format("{}", lines[i].score->skipped));
    table.add(std::move(row));
  }
  return table;
}

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
      {.title = "p90", .align = Align::kRight, .importance = 4},
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
        scored ? tenths(score.mape) : "",
        scored ? tenths(score.median_ape) : "",
        scored ? tenths(score.p90_ape) : "",
        tenths(score.coverage80),
        score.interval_score ? fmt::format("{:.2f}", *score.interval_score) : ""};
    if (skipped) cells.push_back(fmt::to_string(score.skipped));
    table.add(std::move(cells));
  }
  return table.text(terminal, "-o json");
}

}  // namespace

std::string scores_table(const ValidationReport& report, const Terminal& terminal) {
  if (of_verdicts(report.validation)) return verdict_table(report).text(terminal);
  std::vector<Validation> all{report.validation};
  all.insert(all.end(), report.beside.begin(), report.beside.end());
  return validation_table(all, terminal);
}

std::vector<OptionSpec> validation_options() {
  return {{.name = "--train", .value = "FILE...", .help = "Tables to learn from.", .files = true},
          {.name = "--test",
           .value = "FILE...",
           .help = "Tables to predict; measurements are used for scores only and may be missing.",
           .files = true},
          {.name = "--predictions",
           .value = "FILE",
           .help = "Output CSV of row, predicted, p10, p90 and note."}};
}

ExitCode print_report(const Invocation& invocation, std::string_view verb,
                      const ValidationReport& report) {
  if (invocation.has("--predictions")) {
    const Status written =
        write_output(invocation.get("--predictions"), predictions_csv(report.predictions));
    if (!written.ok()) return cli::report(invocation, verb, written.error());
  }
  if (invocation.output() == "json") {
    print_answer(invocation, write_validation(report.validation));
    return kExitOk;
  }
  print_answer(invocation, scores_table(report, invocation.out_terminal));
  for (const std::string& note : report.validation.notes) say(invocation, note);
  const auto predicted =
      std::count_if(report.predictions.begin(), report.predictions.end(),
                    [](const PredictionLine& line) { return line.predicted.has_value(); });
  say(invocation, fmt::format("{} of {} predicted.", predicted,
                              counted(report.predictions.size(), "test row")));
  return kExitOk;
}

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
