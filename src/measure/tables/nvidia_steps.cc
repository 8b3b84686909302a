#include "measure/tables/nvidia_steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "base/check.h"
#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/nvidia_batch.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr int kGpusPerServer = 8;  // DGX-1 and DGX A100, on which nearly all rows were measured.
constexpr int kGpusPerDgx2 = 16;

/// The meaning of the numbers of a column.
struct Figure {
  enum class Kind { kRate, kTimeOfStep, kOtherTime };
  Kind kind = Kind::kRate;
  Seconds unit = kSecond;  // Unit of the time, or of the time in the rate.
};

/// Runs of letters and digits in lower case, and slashes; "per" is a slash.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : to_lower(text)) {
    if (is_digit(c) || (c >= 'a' && c <= 'z')) {
      words.back() += c;
      continue;
    }
    if (!words.back().empty()) words.emplace_back();
    if (c == '/') words.insert(words.end() - 1, "/");
  }
  std::replace(words.begin(), words.end(), std::string("per"), std::string("/"));
  return words;
}

std::optional<Seconds> time_unit(std::string_view word) {
  if (word == "s" || word == "sec" || word == "second" || word == "seconds") return kSecond;
  if (word == "ms" || word == "msec" || word == "millisecond") return kMillisecond;
  if (word == "min" || word == "minute") return kMinute;
  if (word == "h" || word == "hour") return kHour;
  return std::nullopt;
}

bool is_step(std::string_view word) {
  return word == "step" || word == "it" || word == "iter" || word == "iteration" || word == "batch";
}

/// "Throughput - FP32 [img/s]" is a rate per second, "[mol/ms]" one per millisecond and "s/step" a
/// time. A throughput without a unit is per second.
Figure figure_of(std::string_view column) {
  const std::vector<std::string> words = words_of(column);
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] != "/") continue;
    if (const auto unit = time_unit(words[i + 1])) return {Figure::Kind::kRate, *unit};
    const auto unit = time_unit(words[i - 1]);
    if (unit && is_step(words[i + 1])) return {Figure::Kind::kTimeOfStep, *unit};
  }
  for (const std::string& word : words) {
    if (word == "time" || word == "latency") return {Figure::Kind::kOtherTime, kSecond};
  }
  return {};
}

/// GPUs of a server by a heading such as "Training performance: NVIDIA DGX-1 (8x V100 16GB)".
int gpus_per_server(std::string_view heading, std::string_view gpu) {
  for (std::size_t i = 1; i + 1 < heading.size(); ++i) {
    if (heading[i] != 'x' || !is_digit(heading[i - 1])) continue;
    const std::string_view after = trim_left(heading.substr(i + 1));
    if (gpu.empty() || after.substr(0, gpu.size()) != gpu) continue;
    std::size_t first = i;
    while (first > 0 && is_digit(heading[first - 1])) --first;
    if (const auto count = count_of(heading.substr(first, i - first))) return *count;
  }
  return heading.find("DGX-2") == std::string_view::npos ? kGpusPerServer : kGpusPerDgx2;
}

std::vector<int> fill_servers(int gpus, int per_server) {
  std::vector<int> by_vm(static_cast<std::size_t>(gpus / per_server), per_server);
  if (gpus % per_server > 0) by_vm.push_back(gpus % per_server);
  return by_vm;
}

/// Such tables print the GPUs of one node, and the published copy lacks the column of nodes.
bool hides_nodes(std::string_view heading) {
  const std::string lower = to_lower(heading);
  return lower.find("multi-node") != std::string::npos ||
         lower.find("multinode") != std::string::npos;
}

void time_row(StepRow& row, const Csv& csv, std::size_t i) {
  const std::string_view column = csv.cell(i, "throughput_column");
  const Figure figure = figure_of(column);
  if (figure.kind == Figure::Kind::kOtherTime) {
    return mark_unusable(row, fmt::format("'{}' is not a time of a step", printable(column)));
  }
  if (figure.kind == Figure::Kind::kRate) {
    row.times_per_step = workers(row) * row.batch_per_worker;
  }
  const std::string_view cell = csv.cell(i, "throughput");
  if (cell.empty()) return;
  if (const auto value = printed_number(cell)) {
    const double unit = figure.unit.in(kSecond);
    row.time = figure.kind == Figure::Kind::kRate ? time_per_step(unit, *value)
                                                  : time_per_step(unit * *value, 1);
  }
  if (!row.time) mark_unmeasured(row, unreadable("throughput", cell));
}

std::string series_of(const Csv& csv, std::size_t i) {
  std::string series =
      fmt::format("{} | {} | {} | {}", csv.cell(i, "heading"), csv.cell(i, "throughput_column"),
                  csv.cell(i, "precision"), csv.cell(i, "gpu"));
  const std::string_view memory = csv.cell(i, "gpu_mem_gb");
  return memory.empty() ? series : fmt::format("{} {} GB", series, memory);
}

Result<StepRow> read_row(const Csv& csv, std::size_t i) {
  StepRow row{.job = std::string(csv.cell(i, "example")),
              .series = series_of(csv, i),
              .device = std::string(csv.cell(i, "gpu")),
              .workers_by_vm = {1}};
  if (row.job.empty()) mark_unusable(row, "has no example");
  const std::string_view heading = csv.cell(i, "heading");
  if (hides_nodes(heading)) mark_unusable(row, "the number of nodes is not stated");
  const std::string_view gpus = csv.cell(i, "num_gpus");
  const auto count = count_of(gpus);
  if (count) {
    row.workers_by_vm = fill_servers(*count, gpus_per_server(heading, row.device));
  } else {
    mark_unusable(row, unreadable("num_gpus", gpus));
  }
  const std::string_view batch = csv.cell(i, "batch");
  const auto samples = batch_per_gpu({.cell = batch,
                                      .column = csv.cell(i, "batch_column"),
                                      .precision = csv.cell(i, "precision"),
                                      .throughput_column = csv.cell(i, "throughput_column"),
                                      .gpus = count.value_or(1)});
  if (!samples) mark_unusable(row, unreadable("batch cell", batch));
  row.batch_per_worker = samples.value_or(1);
  time_row(row, csv, i);
  return row;
}

/// A heading that comes again after another one heads another table of the example: of a larger
/// variant of the model, whose name the copy lacks.
void tell_tables_apart(std::vector<StepRow>& rows) {
  std::map<std::string, int> tables;  // By example and heading.
  std::string last;
  for (StepRow& row : rows) {
    const std::string heading = row.job + " | " + row.series.substr(0, row.series.find(" | "));
    const int table = heading == last ? tables[heading] : ++tables[heading];
    if (table > 1) row.series += fmt::format(" | table {}", table);
    last = heading;
  }
}

}  // namespace

Result<std::vector<StepRow>> read_nvidia_steps(std::string_view text, const std::string& source) {
  auto rows = read_rows<StepRow>(text, source,
                                 {"example", "heading", "gpu", "num_gpus", "batch", "batch_column",
                                  "precision", "throughput_column"},
                                 read_row);
  if (rows.ok()) tell_tables_apart(*rows);
  return rows;
}

double nvidia_figure(std::string_view throughput_column, Seconds time) {
  CHECK(time > Seconds{});
  const Figure figure = figure_of(throughput_column);
  return figure.kind == Figure::Kind::kRate ? figure.unit / time : time.in(figure.unit);
}

}  // namespace stint
