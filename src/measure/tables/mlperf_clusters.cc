#include "measure/tables/mlperf_clusters.h"

#include <utility>

#include "measure/tables/number_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<std::optional<Seconds>> step_cells(const Csv& csv, std::size_t i,
                                          const std::optional<double>& global_batch) {
  const auto step = maybe_number(csv, i, "step_s");
  if (!step.ok()) return step.error();
  if (*step) return std::optional(**step * kSecond);
  const auto rate = maybe_number(csv, i, "samples_per_s");
  if (!rate.ok()) return rate.error();
  if (!*rate || !global_batch) return std::optional<Seconds>();
  return std::optional(*global_batch / **rate * kSecond);
}

Result<MlperfRow> read_row(const Csv& csv, std::size_t i) {
  MlperfRow row{.round = std::string(csv.cell(i, "round")),
                .submitter = std::string(csv.cell(i, "submitter")),
                .benchmark = std::string(csv.cell(i, "benchmark")),
                .accelerator = std::string(csv.cell(i, "accelerator")),
                .gpu = std::string(csv.cell(i, "gpu")),
                .framework = std::string(csv.cell(i, "framework")),
                .interconnect = std::string(csv.cell(i, "accelerator_interconnect"))};
  if (row.benchmark.empty()) return csv.error_at(i, "benchmark", "must not be empty");
  for (const auto& [column, number] :
       {std::pair("accelerators", &row.accelerators), std::pair("nodes", &row.nodes),
        std::pair("accelerators_per_node", &row.accelerators_per_node),
        std::pair("global_batch", &row.global_batch)}) {
    if (csv.cell(i, column) == "0") continue;  // A system of processors has no accelerators.
    const auto value = maybe_number(csv, i, column);
    if (!value.ok()) return value.error();
    *number = *value;
  }
  const auto step = step_cells(csv, i, row.global_batch);
  if (!step.ok()) return step.error();
  row.step = *step;
  return row;
}

}  // namespace

bool is_mlperf_clusters(const Csv& csv) {
  return csv.find_column("global_batch").has_value() && csv.find_column("gpu").has_value() &&
         csv.find_column("benchmark").has_value();
}

bool is_mlperf_runs(const Csv& csv) { return csv.find_column("epoch_stops").has_value(); }

Result<std::vector<MlperfRow>> read_mlperf_clusters(const Csv& csv) {
  return read_rows<MlperfRow>(csv,
                              {"round", "submitter", "benchmark", "accelerator", "gpu",
                               "accelerators", "nodes", "accelerators_per_node", "global_batch"},
                              read_row);
}

bool is_one_node(const MlperfRow& row) {
  return row.nodes == 1 || (row.accelerators && row.accelerators == row.accelerators_per_node);
}

std::vector<StepRow> steps_of(std::span<const MlperfRow> rows) {
  std::vector<StepRow> steps;
  for (const MlperfRow& row : rows) {
    if (!is_one_node(row) || !row.step || !row.accelerators || !row.global_batch) continue;
    if (*row.global_batch <= 0) continue;
    steps.push_back({.job = row.benchmark,
                     .device = row.accelerator.empty() ? row.gpu : row.accelerator,
                     .workers_by_vm = {1},
                     .time = *row.step * (*row.accelerators / *row.global_batch)});
  }
  return steps;
}

}  // namespace stint
