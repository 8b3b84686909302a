#include "measure/tables/convergence_table.h"

#include <cmath>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/limits.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<int> whole_cell(const Csv& csv, std::size_t i, const char* column, int least) {
  const std::string_view text = csv.cell(i, column);
  const auto value = parse_int(text);
  if (value && *value >= least && *value <= kCountMax) return *value;
  return csv.error_at(i, column,
                      fmt::format("must be a whole number from {} to {}, not '{}'", least,
                                  kCountMax, printable(text)));
}

/// A finite number; nothing when the column or the cell is missing and need not be there.
Result<std::optional<double>> number_cell(const Csv& csv, std::size_t i, const char* column,
                                          Measured measured) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty() && measured == Measured::kOptional) return std::optional<double>();
  const auto number = parse_double(text);
  if (number && std::abs(*number) <= NumberLimits().max) return number;
  return csv.error_at(i, column, fmt::format("must be a number, not '{}'", printable(text)));
}

/// The same above zero.
Result<std::optional<double>> count_cell(const Csv& csv, std::size_t i, const char* column,
                                         Measured measured) {
  const auto number = number_cell(csv, i, column, measured);
  if (!number.ok() || !*number || **number > 0) return number;
  return csv.error_at(i, column,
                      fmt::format("must be above zero, not '{}'", printable(csv.cell(i, column))));
}

Result<std::optional<double>> noise_cells(const Csv& csv, std::size_t i) {
  const auto square = number_cell(csv, i, "grad_sqr", Measured::kOptional);
  if (!square.ok()) return square.error();
  const auto variance = number_cell(csv, i, "grad_var", Measured::kOptional);
  if (!variance.ok()) return variance.error();
  const bool positive = square->value_or(0) > 0 && variance->value_or(0) > 0;
  if (!positive) return std::optional<double>();
  const double ratio = **variance / **square;
  return std::isfinite(ratio) && ratio > 0 ? std::optional(ratio) : std::nullopt;
}

Result<ConvergenceRow> read_row(const Csv& csv, std::size_t i, Measured measured) {
  ConvergenceRow row{.job = std::string(csv.cell(i, "model"))};
  if (row.job.empty()) return csv.error_at(i, "model", "must not be empty");
  const auto batch = whole_cell(csv, i, "batch_total", 1);
  if (!batch.ok()) return batch.error();
  row.batch = *batch;
  const auto epoch = whole_cell(csv, i, "epoch", 0);
  if (!epoch.ok()) return epoch.error();
  row.epoch = *epoch;
  const auto progress = count_cell(csv, i, "progress_in_initial_batch_steps", measured);
  if (!progress.ok()) return progress.error();
  row.progress = *progress;
  const auto iteration = count_cell(csv, i, "iteration", measured);
  if (!iteration.ok()) return iteration.error();
  row.iteration = *iteration;
  const auto metric = number_cell(csv, i, "metric", measured);
  if (!metric.ok()) return metric.error();
  row.metric = *metric;
  const auto noise = noise_cells(csv, i);
  if (!noise.ok()) return noise.error();
  row.noise_ratio = *noise;
  return row;
}

}  // namespace

Result<std::vector<ConvergenceRow>> read_convergence_table(std::string_view text,
                                                           const std::string& source,
                                                           Measured measured) {
  std::vector<std::string> columns{"model", "batch_total", "epoch"};
  if (measured == Measured::kRequired) {
    columns.insert(columns.end(), {"progress_in_initial_batch_steps", "iteration", "metric",
                                   "grad_sqr", "grad_var"});
  }
  return read_rows<ConvergenceRow>(text, source, columns, [&](const Csv& csv, std::size_t i) {
    return read_row(csv, i, measured);
  });
}

}  // namespace stint
