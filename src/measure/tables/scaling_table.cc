#include "measure/tables/scaling_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// Words in the names of language models among the benchmarks.
constexpr std::array<std::string_view, 4> kLanguageModels{"bert", "gpt", "llama", "nemotron"};

constexpr int kGpusPerDgx = 8;  // DGX and HGX systems, on which the rows were measured.

bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); }

/// Letters and digits in lower case: submitters spell one accelerator in several ways.
std::string plain_name(std::string_view text) {
  std::string plain = to_lower(text);
  std::erase_if(plain, [](char c) { return !is_word(c); });
  return plain;
}

/// Whether `value` is a whole number up to rounding in the table.
bool is_whole(double value) { return std::abs(value - std::round(value)) < 1e-6; }

void mark(ScalingRow& row, std::string reason) {
  if (row.unusable.empty()) row.unusable = std::move(reason);
}

/// Reads cells of one row of a table and keeps the first complaint in the row.
class Cells {
 public:
  Cells(const Csv& csv, std::size_t line, ScalingRow& row) : csv_(csv), line_(line), row_(row) {}

  std::string_view text(std::string_view column) const { return csv_.cell(line_, column); }

  int count(std::string_view column) {
    const auto value = count_of(whole_text(column));
    if (!value) complain(column);
    return value.value_or(1);
  }

  double number(std::string_view column) {
    const auto value = positive_of(text(column));
    if (!value) complain(column);
    return value.value_or(1);
  }

  std::optional<double> number_or_blank(std::string_view column) {
    if (text(column).empty()) return std::nullopt;
    return number(column);
  }

 private:
  /// "8.0" as "8": tables with blanks print counts as fractions.
  std::string_view whole_text(std::string_view column) const {
    const std::string_view cell = text(column);
    return cell.ends_with(".0") ? cell.substr(0, cell.size() - 2) : cell;
  }

  void complain(std::string_view column) {
    const std::string_view cell = text(column);
    mark(row_, cell.empty() ? fmt::format("{} is blank", column) : unreadable(column, cell));
  }

  const Csv& csv_;
  std::size_t line_;
  ScalingRow& row_;
};

void set_time(ScalingRow& row, const Cells& cells) {
  const std::string_view step = cells.text("step_s");
  const std::string_view rate = cells.text("samples_per_s");
  if (!step.empty()) {
    row.time = time_of(step, kSecond);
    if (!row.time) row.unmeasured = unreadable("step_s", step);
  } else if (!rate.empty()) {
    const auto samples = positive_of(rate);
    if (samples) row.time = time_per_step(row.global_batch, *samples);
    if (!row.time) row.unmeasured = unreadable("samples_per_s", rate);
  }
}

/// The product of the stated degrees, or nothing when none is stated.
std::optional<double> stated_degree(Cells& cells) {
  std::optional<double> degree;
  for (const char* column : {"tp", "pp", "cp"}) {
    if (const auto part = cells.number_or_blank(column)) degree = degree.value_or(1) * *part;
  }
  return degree;
}

Result<ScalingRow> mlperf_row(const Csv& csv, std::size_t i) {
  ScalingRow row{.line = csv.line(i)};
  Cells cells(csv, i, row);
  row.job = cells.text("benchmark");
  row.owner = cells.text("submitter");
  row.edition = cells.text("round");
  row.device = plain_name(cells.text("accelerator"));
  row.family = plain_name(cells.text("gpu"));
  row.workers = cells.count("accelerators");
  row.vms = cells.count("nodes");
  row.workers_per_vm = cells.count("accelerators_per_node");
  row.global_batch = cells.number("global_batch");
  row.micro_steps = cells.number_or_blank("grad_accum").value_or(1);
  row.tokens = cells.number_or_blank("seq");
  row.network = described_network(cells.text("networking"));
  for (const char* column : {"benchmark", "accelerator"}) {
    if (cells.text(column).empty()) mark(row, fmt::format("{} is blank", column));
  }
  if (row.vms > row.workers)
    mark(row, fmt::format("{} accelerators on {} nodes", row.workers, row.vms));
  const auto degree = stated_degree(cells);
  const double shared = row.workers * row.micro_steps / row.global_batch;
  row.degree = std::max(1.0, degree.value_or(is_whole(shared) ? shared : 1));
  set_time(row, cells);
  return row;
}

/// Parameters by a name such as "Llama 3.1 70b" or "Paxml GPT5B": the last number before a b.
std::optional<double> named_parameters(std::string_view model) {
  constexpr double kBillion = 1e9;
  const std::string name = to_lower(model);
  // Of adapters only a small part is trained, and the name does not say how many.
  if (name.find("lora") != std::string::npos) return std::nullopt;
  std::optional<double> billions;
  for (std::size_t end = 1; end < name.size(); ++end) {
    const bool whole = end + 1 == name.size() || !is_word(name[end + 1]);
    if (name[end] != 'b' || !whole || !is_digit(name[end - 1])) continue;
    std::size_t first = end;
    while (first > 0 && (is_digit(name[first - 1]) || name[first - 1] == '.')) --first;
    billions = positive_of(std::string_view(name).substr(first, end - first));
  }
  return billions ? std::optional(*billions * kBillion) : std::nullopt;
}

/// The recipe with its layout: its times compare between cluster sizes.
std::string recipe_of(const Cells& cells) {
  std::string recipe(cells.text("readme").substr(0, cells.text("readme").find('/')));
  for (const char* column : {"seq", "layers", "tp", "pp", "cp", "vp", "ep", "micro_batch"}) {
    recipe += fmt::format(" {}={}", column, cells.text(column));
  }
  return recipe;
}

Result<ScalingRow> dgxc_row(const Csv& csv, std::size_t i) {
  ScalingRow row{.line = csv.line(i)};
  Cells cells(csv, i, row);
  row.job = cells.text("model");
  row.owner = recipe_of(cells);
  row.edition = cells.text("tag");
  row.device = fmt::format("{} {}", cells.text("gpu"), cells.text("precision"));
  row.family = row.device;
  row.workers = cells.count("gpus");
  row.vms = (row.workers + kGpusPerDgx - 1) / kGpusPerDgx;
  row.workers_per_vm = std::min(row.workers, kGpusPerDgx);
  row.global_batch = cells.number("global_batch");
  row.tokens = cells.number("seq");
  row.parameters = named_parameters(row.job);
  for (const char* column : {"model", "gpu"}) {
    if (cells.text(column).empty()) mark(row, fmt::format("{} is blank", column));
  }
  const double degree = stated_degree(cells).value_or(1);
  row.degree = degree <= row.workers ? std::max(1.0, degree) : 1;
  const auto micro_batch = cells.number_or_blank("micro_batch");
  const double passes =
      row.global_batch * row.degree / (row.workers * micro_batch.value_or(row.global_batch));
  row.micro_steps = cells.number_or_blank("grad_accum").value_or(std::max(1.0, passes));
  set_time(row, cells);
  return row;
}

/// The highest number that stands before "gb" or "gig" in a text in lower case.
std::optional<double> highest_rate(std::string_view text) {
  std::optional<double> highest;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i]) || (i > 0 && is_word(text[i - 1]) && text[i - 1] != 'x')) continue;
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    const std::string_view unit = trim_left(text.substr(end));
    const auto rate = positive_of(text.substr(i, end - i));
    if (rate && (unit.starts_with("gb") || unit.starts_with("gig"))) {
      highest = std::max(highest.value_or(0), *rate);
    }
    i = end - 1;
  }
  return highest;
}

/// The number of adapters that a part such as "8x connectx-7" begins with.
double adapters_of(std::string_view part) {
  std::size_t end = 0;
  while (end < part.size() && is_digit(part[end])) ++end;
  const bool counted = end > 0 && trim_left(part.substr(end)).starts_with('x');
  return counted ? count_of(part.substr(0, end)).value_or(1) : 1;
}

std::vector<std::string> network_parts(std::string_view text) {
  std::string lower = to_lower(text);
  for (const std::string_view word : {" and ", "+", ";"}) {
    for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word)) {
      lower.replace(at, word.size(), ",");
    }
  }
  return split(lower, ',');
}

}  // namespace

double samples_per_worker(const ScalingRow& row) {
  const double samples = row.global_batch / row.workers;
  const bool shared = row.degree > 1 || is_whole(row.micro_steps / samples);
  return shared ? samples : std::max(1.0, samples);
}

std::string series_of(const ScalingRow& row) {
  return fmt::format("{} | {} | {} | {}", row.owner, row.job, row.device, row.edition);
}

bool is_language_model(const ScalingRow& row) {
  const std::string name = to_lower(row.job);
  return std::any_of(kLanguageModels.begin(), kLanguageModels.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

std::optional<BytesPerSecond> described_network(std::string_view text) {
  constexpr std::string_view kCompute = "compute";
  const std::vector<std::string> parts = network_parts(text);
  const bool named = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return part.find(kCompute) != std::string::npos;
  });
  std::optional<BytesPerSecond> fastest;
  for (const std::string& part : parts) {
    const bool compute = part.find(kCompute) != std::string::npos;
    const auto has = [&](std::string_view word) { return part.find(word) != std::string::npos; };
    if (named != compute || has("pcie") || (!compute && (has("management") || has("storage")))) {
      continue;
    }
    const std::size_t colon = part.find(':');
    const std::string_view adapters =
        trim(std::string_view(part).substr(colon == std::string::npos ? 0 : colon + 1));
    const auto rate = highest_rate(adapters);
    if (!rate) continue;
    const BytesPerSecond network = adapters_of(adapters) * *rate * kGbit / kSecond;
    if (!fastest || network > *fastest) fastest = network;
  }
  return fastest;
}

Result<std::vector<ScalingRow>> read_mlperf_clusters(std::string_view text,
                                                     const std::string& source) {
  return read_rows<ScalingRow>(
      text, source,
      {"round", "submitter", "benchmark", "accelerator", "gpu", "accelerators", "nodes",
       "accelerators_per_node", "global_batch", "grad_accum"},
      mlperf_row);
}

Result<std::vector<ScalingRow>> read_dgxc_steps(std::string_view text, const std::string& source) {
  return read_rows<ScalingRow>(
      text, source, {"tag", "readme", "model", "precision", "gpu", "gpus", "global_batch", "seq"},
      dgxc_row);
}

std::span<const EnumName<ScalingFormat>> names_of(ScalingFormat /*type*/) {
  static constexpr EnumName<ScalingFormat> kNames[] = {{ScalingFormat::kMlperf, "mlperf"},
                                                       {ScalingFormat::kDgxc, "dgxc"}};
  return kNames;
}

Result<std::vector<ScalingRow>> read_scaling(ScalingFormat format, std::string_view text,
                                             const std::string& source) {
  switch (format) {
    case ScalingFormat::kMlperf:
      return read_mlperf_clusters(text, source);
    case ScalingFormat::kDgxc:
      return read_dgxc_steps(text, source);
  }
  CHECK(false);
  return std::vector<ScalingRow>();
}

}  // namespace stint
