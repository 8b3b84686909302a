#include "cli/render/render_scores.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/render_validation.h"

namespace stint::cli {
namespace {

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "";
}

/// Name and score of each line: jobs, then all of them.
struct Line {
  std::string name;
  const Score* score;
};

std::vector<Line> lines_of(const Validation& validation) {
  std::vector<Line> lines;
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
      const auto same = std::find_if(others.begin(), others.end(),
                                     [&](const Line& line) { return line.name == lines[i].name; });
      const bool found = same != others.end();
      row.push_back(found ? percent(same->score->accuracy) : "");
      row.push_back(found ? percent(same->score->balanced_accuracy) : "");
    }
    row.push_back(fmt::format("{}", lines[i].score->skipped));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

std::string scores_table(const ValidationReport& report, const Terminal& terminal) {
  if (of_verdicts(report.validation)) return verdict_table(report).text(terminal);
  std::vector<Validation> all{report.validation};
  all.insert(all.end(), report.beside.begin(), report.beside.end());
  return validation_table(all, terminal);
}

std::vector<OptionSpec> validation_options() {
  return {{.name = "--train", .value = "FILE...", .help = "Rows to learn from.", .files = true},
          {.name = "--test",
           .value = "FILE...",
           .help = "Rows to predict; what they measured is used for scores only and may be "
                   "missing.",
           .files = true},
          {.name = "--predictions",
           .value = "FILE",
           .help = "Write a CSV of row, predicted, p10, p90 and note."}};
}

ExitCode print_report(const Invocation& invocation, std::string_view verb,
                      const ValidationReport& report) {
  if (invocation.has("--predictions")) {
    const Status written =
        write_file(invocation.get("--predictions"), predictions_csv(report.predictions));
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

}  // namespace stint::cli
