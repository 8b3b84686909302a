#include "measure/tables/neusight_table.h"

#include <fmt/format.h>

#include "measure/tables/number_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr double kLargest = 1e7;  // No count of a shape, batch or figure is larger.

/// A whole number from 1 to kLargest.
Result<double> whole_cell(const Csv& csv, std::size_t row, const char* column) {
  const auto number = whole_of(csv.cell(row, column));
  if (number && static_cast<double>(*number) <= kLargest) return static_cast<double>(*number);
  return csv.error_at(row, column, "must be a whole number above zero");
}

Result<std::optional<Seconds>> seconds_cell(const Csv& csv, std::size_t row, const char* column) {
  const auto number = maybe_number(csv, row, column);
  if (!number.ok()) return number.error();
  if (!*number) return std::optional<Seconds>();
  const auto time = time_of(csv.cell(row, column), kSecond);
  if (!time) return csv.error_at(row, column, "is not a time in seconds");
  return std::optional(*time);
}

/// The times of a row that may be missing.
Status read_times(const Csv& csv, std::size_t i, NeusightRow& row) {
  const auto read = [&](const std::string& column, std::optional<Seconds>& into) -> Status {
    const auto time = seconds_cell(csv, i, column.c_str());
    if (!time.ok()) return time.error();
    into = *time;
    return {};
  };
  Status status = read("measured_s", row.time);
  if (status.ok()) status = read("measured_forward_s", row.forward);
  for (std::size_t kind = 0; status.ok() && kind < kNeusightKinds.size(); ++kind) {
    status = read(fmt::format("measured_{}_forward_s", kNeusightKinds[kind]), row.by_kind[kind]);
  }
  for (std::size_t rival = 0; status.ok() && rival < kNeusightRivals.size(); ++rival) {
    status = read(fmt::format("{}_predicted_s", kNeusightRivals[rival]), row.predicted[rival]);
  }
  return status;
}

Result<NeusightRow> read_row(const Csv& csv, std::size_t i) {
  NeusightRow row{.model = std::string(csv.cell(i, "model")),
                  .gpu = std::string(csv.cell(i, "gpu")),
                  .option = std::string(csv.cell(i, "option"))};
  if (row.model.empty()) return csv.error_at(i, "model", "must not be empty");
  if (row.gpu.empty()) return csv.error_at(i, "gpu", "must not be empty");
  const std::string_view mode = csv.cell(i, "mode");
  if (mode != "train" && mode != "inf") return csv.error_at(i, "mode", "must be train or inf");
  row.training = mode == "train";
  for (const auto& [column, into] :
       {std::pair("seq", &row.length), std::pair("batch", &row.batch)}) {
    const auto number = whole_cell(csv, i, column);
    if (!number.ok()) return number.error();
    *into = *number;
  }
  if (!csv.cell(i, "gpus").empty()) {
    const auto gpus = count_of(csv.cell(i, "gpus"));
    if (!gpus) return csv.error_at(i, "gpus", "must be a whole number above zero");
    row.gpus = *gpus;
  }
  const Status times = read_times(csv, i, row);
  if (!times.ok()) return times.error();
  return row;
}

Result<NeusightGpu> read_gpu(const Csv& csv, std::size_t i) {
  NeusightGpu gpu{.name = std::string(csv.cell(i, "gpu"))};
  if (gpu.name.empty()) return csv.error_at(i, "gpu", "must not be empty");
  const auto matrix = maybe_number(csv, i, "fp32_matrix_gflops_amd");
  if (!matrix.ok()) return matrix.error();
  const auto plain = maybe_number(csv, i, "fp32_gflops");
  if (!plain.ok()) return plain.error();
  const auto bandwidth = maybe_number(csv, i, "memory_bandwidth_gb_s");
  if (!bandwidth.ok()) return bandwidth.error();
  gpu.amd = matrix->has_value() || gpu.name.starts_with("AMD") || gpu.name.starts_with("MI");
  if (*matrix || *plain) {
    gpu.peak = (*matrix ? **matrix : **plain) * kGigaflop / kSecond;
  }
  if (*bandwidth) gpu.bandwidth = **bandwidth * kGB / kSecond;
  for (const auto& [column, into] :
       {std::pair("sm_or_cu", &gpu.multiprocessors), std::pair("cores_per_sm", &gpu.lanes)}) {
    if (csv.cell(i, column).empty()) continue;
    const auto count = count_of(csv.cell(i, column));
    if (!count) return csv.error_at(i, column, "must be a whole number above zero");
    *into = *count;
  }
  return gpu;
}

Result<NeusightModel> read_model(const Csv& csv, std::size_t i) {
  NeusightModel model{.name = std::string(csv.cell(i, "model")),
                      .type = std::string(csv.cell(i, "type"))};
  if (model.name.empty()) return csv.error_at(i, "model", "must not be empty");
  for (const auto& [column, into] :
       {std::pair("layers", &model.layers), std::pair("hidden", &model.hidden),
        std::pair("heads", &model.heads), std::pair("vocab", &model.vocabulary)}) {
    const auto number = whole_cell(csv, i, column);
    if (!number.ok()) return number.error();
    *into = *number;
  }
  for (const auto& [column, into] :
       {std::pair("ffn", &model.feed_forward), std::pair("experts", &model.experts)}) {
    if (csv.cell(i, column).empty()) continue;
    const auto number = whole_cell(csv, i, column);
    if (!number.ok()) return number.error();
    *into = *number;
  }
  return model;
}

}  // namespace

std::optional<NeusightFile> neusight_file(const Csv& csv) {
  if (csv.find_column("seq") && csv.find_column("mode")) return NeusightFile::kLatency;
  if (csv.find_column("memory_bandwidth_gb_s")) return NeusightFile::kGpus;
  if (csv.find_column("layers") && csv.find_column("hidden")) return NeusightFile::kModels;
  return std::nullopt;
}

Result<std::vector<NeusightRow>> read_neusight_rows(const Csv& csv) {
  return read_rows<NeusightRow>(csv, {"model", "seq", "batch", "gpu", "mode"}, read_row);
}

Result<std::vector<NeusightGpu>> read_neusight_gpus(const Csv& csv) {
  return read_rows<NeusightGpu>(csv, {"gpu", "memory_bandwidth_gb_s", "fp32_gflops"}, read_gpu);
}

Result<std::vector<NeusightModel>> read_neusight_models(const Csv& csv) {
  return read_rows<NeusightModel>(csv, {"model", "type", "layers", "hidden", "heads", "vocab"},
                                  read_model);
}

}  // namespace stint
