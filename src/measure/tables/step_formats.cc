#include "measure/tables/step_formats.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/nvidia_steps.h"
#include "measure/tables/stint_steps.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

void place(StepRow& row, const Csv& csv, std::size_t i) {
  const std::string_view gpus = csv.cell(i, "num_gpus");
  const std::string_view consolidated = csv.cell(i, "consolidated");
  row.workers_by_vm = {1};
  const auto count = count_of(gpus);
  if (!count) return mark_unusable(row, unreadable("num_gpus", gpus));
  if (consolidated == "1") {
    row.workers_by_vm = {*count};
  } else if (consolidated == "0") {
    row.workers_by_vm.assign(static_cast<std::size_t>(*count), 1);
  } else {
    mark_unusable(row, unreadable("consolidated", consolidated));
  }
}

void time_row(StepRow& row, const Csv& csv, std::size_t i) {
  const std::string_view first = csv.cell(i, "steps_per_s_all_gpus");
  const std::string_view second = csv.cell(i, "steps_per_s_all_gpus_repeat");
  if (const auto rate = positive_of(second)) row.repeat = time_per_step(workers(row), *rate);
  if (first.empty()) return;
  const auto rate = parse_double(first);
  if (rate && *rate == 0) return mark_unmeasured(row, "does not fit in memory");
  if (rate) row.time = time_per_step(workers(row), *rate);
  if (!row.time) mark_unmeasured(row, unreadable("rate", first));
}

constexpr double kBytesPerParameter = 4;  // The authors train in single precision.

/// Parameters of a model of Gavel's table.
struct GavelModel {
  std::string_view name;
  double parameters;
};

// The table says only names. ResNet: counts of torchvision's models (documentation of torchvision
// 0.15, table of weights). LM is PyTorch's example word_language_model at its defaults, two layers
// of 200, with the 33,278 words of WikiText-2; that the authors kept the defaults is not verified.
constexpr GavelModel kGavelModels[] = {
    {"ResNet-18", 11.69e6}, {"ResNet-50", 25.56e6}, {"LM", 13.99e6}};

std::optional<Bytes> gavel_gradients(std::string_view model) {
  for (const GavelModel& known : kGavelModels) {
    if (known.name == model) return known.parameters * kBytesPerParameter * kByte;
  }
  return std::nullopt;
}

Result<StepRow> gavel_row(const Csv& csv, std::size_t i) {
  StepRow row{.job = std::string(csv.cell(i, "model")), .device = std::string(csv.cell(i, "gpu"))};
  if (row.job.empty()) mark_unusable(row, "has no model");
  row.gradient_bytes = gavel_gradients(row.job);
  place(row, csv, i);
  const std::string_view batch = csv.cell(i, "batch_per_gpu");
  if (const auto samples = positive_of(batch); samples && *samples <= kBatchMax) {
    row.batch_per_worker = *samples;
  } else if (!batch.empty()) {
    mark_unusable(row, unreadable("batch cell", batch));
  }
  time_row(row, csv, i);
  return row;
}

/// The names that the table of single workers has for the models of the other tables.
constexpr std::pair<std::string_view, std::string_view> kLongNames[] = {
    {"Res15", "ResNet-15"},
    {"Res32", "ResNet-32"},
    {"shakebig", "ShakeShake-big"},
    {"shakesmall", "ShakeShake-small"},
};

std::string long_name(std::string_view model) {
  for (const auto& [name, longer] : kLongNames) {
    if (name == model) return std::string(longer);
  }
  return std::string(model);
}

/// The count under `column`; 1 where the table has no such column.
int count_or_one(StepRow& row, const Csv& csv, std::size_t i, const char* column) {
  if (!csv.find_column(column)) return 1;
  const std::string_view text = csv.cell(i, column);
  const auto count = count_of(text);
  if (!count) mark_unusable(row, unreadable(column, text));
  return count.value_or(1);
}

Result<StepRow> cmdare_row(const Csv& csv, std::size_t i) {
  StepRow row{.job = long_name(csv.cell(i, "model")),
              .device = std::string(csv.cell(i, "gpu")),
              .asynchronous = true};
  if (row.job.empty()) mark_unusable(row, "has no model");
  const int count = count_or_one(row, csv, i, "num_workers");
  row.workers_by_vm.assign(static_cast<std::size_t>(count), 1);
  row.servers = count_or_one(row, csv, i, "num_param_servers");
  const std::string_view parameters = csv.cell(i, "num_params");
  if (const auto number = whole_of(parameters)) {
    row.gradient_bytes = static_cast<double>(*number) * kBytesPerParameter * kByte;
  } else if (!parameters.empty()) {
    mark_unusable(row, unreadable("num_params", parameters));
  }
  const bool cluster = csv.find_column("num_workers").has_value();
  const std::string_view rate =
      csv.cell(i, cluster ? "cluster_steps_per_s_mean" : "steps_per_s_mean");
  if (rate.empty()) return row;
  if (const auto steps = positive_of(rate)) row.time = time_per_step(count, *steps);
  if (!row.time) mark_unmeasured(row, unreadable("rate", rate));
  return row;
}

}  // namespace

Result<std::vector<StepRow>> read_gavel_steps(std::string_view text, const std::string& source) {
  return read_rows<StepRow>(
      text, source, {"gpu", "consolidated", "model", "batch_per_gpu", "num_gpus"}, gavel_row);
}

Result<std::vector<StepRow>> read_cmdare_steps(std::string_view text, const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  std::vector<std::string> columns = {"model", "gpu"};
  if (csv->find_column("num_workers") || csv->find_column("num_param_servers")) {
    columns.insert(columns.end(), {"num_workers", "num_param_servers"});
  }
  return read_rows<StepRow>(*csv, columns, cmdare_row);
}

std::span<const EnumName<StepFormat>> names_of(StepFormat /*type*/) {
  static constexpr EnumName<StepFormat> kNames[] = {{StepFormat::kPollux, "pollux"},
                                                    {StepFormat::kGavel, "gavel"},
                                                    {StepFormat::kNvidia, "nvidia"},
                                                    {StepFormat::kCmdare, "cmdare"},
                                                    {StepFormat::kStint, "stint"}};
  return kNames;
}

Result<std::vector<StepRow>> read_steps(StepFormat format, std::string_view text,
                                        const std::string& source) {
  switch (format) {
    case StepFormat::kPollux:
      return read_pollux_steps(text, source);
    case StepFormat::kGavel:
      return read_gavel_steps(text, source);
    case StepFormat::kNvidia:
      return read_nvidia_steps(text, source);
    case StepFormat::kCmdare:
      return read_cmdare_steps(text, source);
    case StepFormat::kStint:
      return read_stint_steps(text, source);
  }
  CHECK(false);
  return std::vector<StepRow>();
}

}  // namespace stint
