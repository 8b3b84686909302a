#include "measure/tables/case_table.h"

#include <array>
#include <fmt/format.h>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// "hvd396" of "hvd396-03".
std::string without_number(const std::string& id) {
  const std::size_t dash = id.rfind('-');
  if (dash == std::string::npos || dash + 1 == id.size()) return id;
  for (std::size_t i = dash + 1; i < id.size(); ++i) {
    if (!is_digit(id[i])) return id;
  }
  return id.substr(0, dash);
}

/// "256", "32K"; nothing for "524288 tokens" and for words.
std::optional<int> batch_of(std::string_view text) {
  constexpr int kKilo = 1024;
  if (text.ends_with('K')) {
    const auto thousands = count_of(text.substr(0, text.size() - 1));
    if (!thousands || *thousands > kMaxWorkers) return std::nullopt;
    return *thousands * kKilo;
  }
  const auto whole = whole_of(text);
  constexpr std::int64_t kBatchMax = 1 << 30;
  if (!whole || *whole > kBatchMax) return std::nullopt;
  return static_cast<int>(*whole);
}

CaseMetric metric_of(std::string_view name) {
  if (name == "samples_per_s") return CaseMetric::kSamplesPerSecond;
  if (name == "iteration_s") return CaseMetric::kIterationTime;
  if (name == "time_to_train_s") return CaseMetric::kTimeToTrain;
  if (name == "tokens_per_s") return CaseMetric::kTokensPerSecond;
  if (name == "scaling_efficiency") return CaseMetric::kScalingEfficiency;
  if (name == "peak_memory_gb") return CaseMetric::kPeakMemory;
  return CaseMetric::kOther;
}

/// Tokens of "524288 tokens" and "2M tokens".
std::optional<double> tokens_of(std::string_view text) {
  constexpr std::string_view kTokens = " tokens";
  if (!text.ends_with(kTokens)) return std::nullopt;
  text.remove_suffix(kTokens.size());
  double factor = 1;
  if (text.ends_with('M')) {
    factor = 1e6;
    text.remove_suffix(1);
  }
  const auto number = positive_of(text);
  return number ? std::optional(factor * *number) : std::nullopt;
}

Result<std::optional<double>> value_cell(const Csv& csv, std::size_t i, const char* column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return std::optional<double>();
  const auto value = positive_of(text);
  if (value) return value;
  return csv.error_at(i, column,
                      fmt::format("must be a number above zero, not '{}'", printable(text)));
}

Result<PublishedCase> read_case(const Csv& csv, std::size_t i) {
  const auto text = [&](const char* column) { return std::string(csv.cell(i, column)); };
  const std::string id = text("id");
  if (id.empty()) return csv.error_at(i, "id", "must not be empty");
  const auto millions = value_cell(csv, i, "params_m");
  if (!millions.ok()) return millions.error();
  PublishedCase it{.row = i,
                   .id = id,
                   .group = without_number(id),
                   .model = text("model"),
                   .task = text("task"),
                   .precision = text("precision"),
                   .batch_per_worker = batch_of(csv.cell(i, "batch_per_gpu")),
                   .global_batch = batch_of(csv.cell(i, "global_batch")),
                   .machines = text("machines"),
                   .vms = count_of(csv.cell(i, "nodes")),
                   .workers = count_of(csv.cell(i, "gpus")),
                   .gpu = text("gpu"),
                   .network = text("network"),
                   .framework = text("framework"),
                   .metric = metric_of(csv.cell(i, "metric")),
                   .source = text("source"),
                   .note = text("note"),
                   .tokens_batch = tokens_of(csv.cell(i, "global_batch")),
                   .size = positive_of(csv.cell(i, "seq_or_image"))};
  if (*millions) it.parameters = 1e6 * **millions;
  if (it.metric == CaseMetric::kOther) return it;
  const auto value = value_cell(csv, i, "value");
  if (!value.ok()) return value.error();
  it.value = *value;
  return it;
}

/// The batch of NVIDIA's table: "256", or "128 (FP32) / 256 (AMP)" by precision.
std::optional<int> nvidia_batch(std::string_view text, std::string_view precision) {
  if (const auto plain = batch_of(text)) return plain;
  const std::string_view mark = precision == "mixed" ? "(AMP)" : "(FP32)";
  for (const std::string& part : split(text, '/')) {
    if (part.find(mark) == std::string::npos) continue;
    return batch_of(trim(std::string_view(part).substr(0, part.find('('))));
  }
  return std::nullopt;
}

/// "8x V100 16GB" of "Training performance: NVIDIA DGX-1 (8x V100 16GB)".
std::string in_brackets(std::string_view heading) {
  const std::size_t open = heading.rfind('(');
  const std::size_t close = heading.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return std::string(heading.substr(open + 1, close - open - 1));
}

Result<PublishedCase> read_nvidia_case(const Csv& csv, std::size_t i) {
  const auto text = [&](const char* column) { return std::string(csv.cell(i, column)); };
  const auto value = value_cell(csv, i, "throughput");
  if (!value.ok()) return value.error();
  const std::string example = text("example");
  const std::string memory = text("gpu_mem_gb");
  PublishedCase it{.row = i,
                   .id = fmt::format("nvidia-{}", i),
                   .group = "nvidia " + example,
                   .model = "ResNet-50",
                   .task = text("heading"),
                   .precision = text("precision"),
                   .batch_per_worker = nvidia_batch(csv.cell(i, "batch"), text("precision")),
                   .global_batch = {},
                   .machines = in_brackets(csv.cell(i, "heading")),
                   .vms = 1,
                   .workers = count_of(csv.cell(i, "num_gpus")),
                   .gpu = text("gpu") + (memory.empty() ? "" : "-" + memory + "GB"),
                   .network = "one node",
                   .framework = text("throughput_column"),
                   .metric = CaseMetric::kSamplesPerSecond,
                   .value = *value,
                   .source = "NVIDIA/DeepLearningExamples:" + example,
                   .note = ""};
  return it;
}

bool is_resnet50(std::string_view example) {
  return example.ends_with("/RN50v1.5") || example.ends_with("/resnet50v1.5");
}

const std::vector<std::string> kNvidiaColumns = {
    "example", "heading", "gpu", "num_gpus", "batch", "precision", "throughput_column"};

}  // namespace

bool is_step_metric(CaseMetric metric) {
  return metric == CaseMetric::kSamplesPerSecond || metric == CaseMetric::kIterationTime ||
         metric == CaseMetric::kTimeToTrain;
}

Result<std::vector<PublishedCase>> read_published_cases(std::string_view text,
                                                        const std::string& source) {
  return read_rows<PublishedCase>(
      text, source,
      {"id", "model", "task", "precision", "batch_per_gpu", "global_batch", "machines", "nodes",
       "gpus", "gpu", "network", "framework", "metric"},
      read_case);
}

Result<std::vector<PublishedCase>> read_nvidia_cases(std::string_view text,
                                                     const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  const Status complete = csv->require_columns(kNvidiaColumns);
  if (!complete.ok()) return complete.error();
  std::vector<PublishedCase> cases;
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    if (!is_resnet50(csv->cell(i, "example"))) continue;
    auto it = read_nvidia_case(*csv, i);
    if (!it.ok()) return it.error();
    cases.push_back(std::move(*it));
  }
  return cases;
}

Result<std::vector<PublishedCase>> read_cases(std::string_view text, const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  return csv->find_column("example") ? read_nvidia_cases(text, source)
                                     : read_published_cases(text, source);
}

}  // namespace stint
