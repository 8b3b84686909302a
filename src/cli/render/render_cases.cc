#include "cli/render/render_cases.h"

#include <fmt/format.h>
#include <vector>

#include "base/csv.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

std::string figure(const std::optional<double>& value) {
  constexpr double kWhole = 1000;  // From here on digits after the point say nothing.
  if (!value) return "";
  return *value >= kWhole ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

std::string ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "";
}

std::string number(const std::optional<int>& value) { return value ? fmt::to_string(*value) : ""; }

const char* unit_of(CaseMetric metric) {
  switch (metric) {
    case CaseMetric::kSamplesPerSecond:
      return "samples/s";
    case CaseMetric::kIterationTime:
      return "s a step";
    case CaseMetric::kTimeToTrain:
      return "s to train";
    case CaseMetric::kTokensPerSecond:
      return "tokens/s";
    case CaseMetric::kScalingEfficiency:
      return "of one GPU";
    case CaseMetric::kPeakMemory:
      return "GB";
    case CaseMetric::kOther:
      return "";
  }
  return "";
}

std::string interval(const CaseOutcome& it) {
  if (!it.p10 || !it.p90) return "";
  return fmt::format("{} - {}", figure(it.p10), figure(it.p90));
}

std::string inside_cell(const CaseOutcome& it) {
  if (!it.published.value || !it.p10) return "";
  return it.inside() ? "yes" : "no";
}

}  // namespace

std::string case_table(const CaseReport& report, const Terminal& terminal) {
  Table table({{.title = "case", .importance = 10},
               {.title = "model", .importance = 6},
               {.title = "machines", .importance = 7},
               right("VMs", 9),
               right("GPUs", 8),
               right("published", 9),
               {.title = "unit", .importance = 5},
               right("predicted", 9),
               right("80 % interval", 8),
               right("ratio", 10),
               {.title = "inside", .importance = 8},
               right("perfect", 7),
               {.title = "from", .importance = 4},
               {.title = "source", .importance = 2},
               {.title = "note", .importance = 1}});
  for (const CaseOutcome& it : report.cases) {
    const PublishedCase& published = it.published;
    table.add({published.id, published.model, published.machines, number(published.vms),
               number(published.workers), figure(published.value), unit_of(published.metric),
               figure(it.predicted), interval(it), ratio(it.speed_ratio), inside_cell(it),
               ratio(it.perfect_ratio), it.from, published.source, it.note});
  }
  return table.text(terminal, "-o csv");
}

std::string case_group_table(const CaseReport& report, const Terminal& terminal) {
  Table table({{.title = "group", .importance = 10},
               {.title = "on", .importance = 9},
               right("cases", 8),
               right("close", 9),
               right("inside", 7),
               right("median ratio", 9),
               right("perfect scaling", 6)});
  for (const CaseGroup& it : report.groups) {
    table.add({it.name, it.several_vms ? "several VMs" : "one VM", fmt::to_string(it.cases),
               fmt::to_string(it.close), fmt::to_string(it.inside), ratio(it.median_ratio),
               ratio(it.median_perfect)});
  }
  return table.text(terminal, "-o csv");
}

std::string case_csv(const CaseReport& report) {
  std::string text = csv_line({"row", "id", "model", "machines", "vms", "workers", "published",
                               "unit", "predicted", "p10", "p90", "speed_ratio", "inside",
                               "perfect_speed_ratio", "from", "source", "note"});
  for (const CaseOutcome& it : report.cases) {
    const PublishedCase& published = it.published;
    text += csv_line({fmt::to_string(published.row), published.id, published.model,
                      published.machines, number(published.vms), number(published.workers),
                      figure(published.value), unit_of(published.metric), figure(it.predicted),
                      figure(it.p10), figure(it.p90), ratio(it.speed_ratio), inside_cell(it),
                      ratio(it.perfect_ratio), it.from, published.source, it.note});
  }
  return text;
}

}  // namespace stint::cli
