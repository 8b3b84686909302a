#include "measure/tables/step_table.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>

#include "base/codec_fields.h"
#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr int kMaxVms = 100000;

Error error_in(const char* column, std::string_view message) {
  return bad_input(fmt::format("column {}: {}", column, message));
}

Result<int> count_cell(const Csv& csv, std::size_t row, const char* column) {
  const std::string_view text = csv.cell(row, column);
  const auto value = parse_int(text);
  if (value && *value >= 1 && *value <= kCountMax) return *value;
  return error_in(column, fmt::format("must be a whole number from 1 to {}, not '{}'", kCountMax,
                                      printable(text)));
}

/// A time in seconds; nothing when the column or the cell is missing.
Result<std::optional<Seconds>> time_cell(const Csv& csv, std::size_t row, const char* column,
                                         Range range) {
  const std::string_view text = csv.cell(row, column);
  if (text.empty()) return std::optional<Seconds>();
  const auto value = parse_double(text);
  if (!value) {
    return error_in(column, fmt::format("must be a number of seconds, not '{}'", printable(text)));
  }
  const std::string wrong = range_problem(range, *value, printable(text), limits_in(kSecond));
  if (!wrong.empty()) return error_in(column, wrong);
  return std::optional(*value * kSecond);
}

std::vector<int> spread_evenly(int gpus, int nodes) {
  std::vector<int> by_vm(static_cast<std::size_t>(nodes), gpus / nodes);
  std::fill_n(by_vm.begin(), gpus % nodes, gpus / nodes + 1);
  return by_vm;
}

Result<std::vector<int>> placement(const Csv& csv, std::size_t row) {
  const auto nodes = count_cell(csv, row, "num_nodes");
  if (!nodes.ok()) return nodes.error();
  const auto gpus = count_cell(csv, row, "num_gpus");
  if (!gpus.ok()) return gpus.error();
  if (*nodes > *gpus || *nodes > kMaxVms) {
    return error_in("num_nodes", fmt::format("{} nodes cannot hold {} GPUs", *nodes, *gpus));
  }
  const std::string_view text = csv.cell(row, "gpus_per_node");
  if (text.empty()) return spread_evenly(*gpus, *nodes);
  std::vector<int> by_vm;
  for (const std::string& part : split(text, '-')) {
    const auto count = parse_int(part);
    if (!count || *count < 1) {
      return error_in("gpus_per_node",
                      fmt::format("'{}' is not of the form 1-2-4", printable(text)));
    }
    by_vm.push_back(*count);
  }
  const std::int64_t sum = std::accumulate(by_vm.begin(), by_vm.end(), std::int64_t{0});
  if (by_vm.size() != static_cast<std::size_t>(*nodes) || sum != *gpus) {
    return error_in("gpus_per_node",
                    fmt::format("'{}' is not {} GPUs on {} nodes", printable(text), *gpus, *nodes));
  }
  return by_vm;
}

/// Assumes one worker where the row does not have their number.
void read_setup(StepRow& step, const Csv& csv, std::size_t row) {
  if (step.job.empty()) mark_unusable(step, error_in("model", "must not be empty").message);
  auto by_vm = placement(csv, row);
  if (!by_vm.ok()) mark_unusable(step, by_vm.error().message);
  step.workers_by_vm = by_vm.ok() ? std::move(*by_vm) : std::vector<int>{1};
  const auto batch = count_cell(csv, row, "batch_per_gpu");
  if (!batch.ok()) mark_unusable(step, batch.error().message);
  if (batch.ok()) step.batch_per_worker = *batch;
}

void read_times(StepRow& step, const Csv& csv, std::size_t row) {
  const auto time = time_cell(csv, row, "step_time_s", Range::kPositive);
  if (!time.ok()) return mark_unmeasured(step, time.error().message);
  const auto synchronisation = time_cell(csv, row, "sync_time_s", Range::kNotNegative);
  if (!synchronisation.ok()) return mark_unmeasured(step, synchronisation.error().message);
  step.time = *time;
  step.synchronisation = *synchronisation;
}

Result<StepRow> read_row(const Csv& csv, std::size_t row) {
  StepRow step{.job = std::string(csv.cell(row, "model")), .device = "T4", .line = csv.line(row)};
  read_setup(step, csv, row);
  read_times(step, csv, row);
  return step;
}

}  // namespace

int workers(const StepRow& row) {
  return std::accumulate(row.workers_by_vm.begin(), row.workers_by_vm.end(), 0);
}

int workers_on_fullest_vm(const StepRow& row) {
  return *std::max_element(row.workers_by_vm.begin(), row.workers_by_vm.end());
}

Result<std::vector<StepRow>> read_pollux_steps(std::string_view text, const std::string& source) {
  return read_rows<StepRow>(
      text, source, {"model", "gpus_per_node", "num_nodes", "num_gpus", "batch_per_gpu"}, read_row);
}

}  // namespace stint
