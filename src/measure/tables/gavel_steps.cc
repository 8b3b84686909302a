#include "measure/tables/gavel_steps.h"

#include <optional>

#include "base/csv.h"
#include "base/text.h"
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

Result<StepRow> read_row(const Csv& csv, std::size_t i) {
  StepRow row{.job = std::string(csv.cell(i, "model")), .device = std::string(csv.cell(i, "gpu"))};
  if (row.job.empty()) mark_unusable(row, "has no model");
  place(row, csv, i);
  const std::string_view batch = csv.cell(i, "batch_per_gpu");
  if (const auto samples = positive_of(batch)) {
    row.batch_per_worker = *samples;
  } else if (!batch.empty()) {
    mark_unusable(row, unreadable("batch cell", batch));
  }
  time_row(row, csv, i);
  return row;
}

}  // namespace

Result<std::vector<StepRow>> read_gavel_steps(std::string_view text, const std::string& source) {
  return read_rows<StepRow>(
      text, source, {"gpu", "consolidated", "model", "batch_per_gpu", "num_gpus"}, read_row);
}

}  // namespace stint
