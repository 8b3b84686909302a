#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "base/units.h"
#include "measure/tables/step_table.h"

namespace stint {

/// More workers or VMs than any table has; a larger count must be a mistake.
inline constexpr int kMaxWorkers = 100000;

/// `text` as a whole number from 1 to kMaxWorkers.
std::optional<int> count_of(std::string_view text);

/// `text` as a number above zero that is neither vanishing nor beyond all bounds (NumberLimits).
std::optional<double> positive_of(std::string_view text);

/// The same as a number of `unit`s, in the physical range of times.
std::optional<Seconds> time_of(std::string_view text, Seconds unit);

/// `text` as a number above zero without a fraction that a double holds exactly; "2e6" is one.
std::optional<std::int64_t> whole_of(std::string_view text);

/// "`what` '`text`' cannot be read".
std::string unreadable(std::string_view what, std::string_view text);

/// Sets the reason why the row cannot be used; the first reason is kept.
void mark_unusable(StepRow& row, std::string reason);

/// Sets the reason why the measured columns of the row cannot be used, and removes its time; the
/// row can still be predicted.
void mark_unmeasured(StepRow& row, std::string reason);

/// Time of one of `steps` that `rate` counts per second, if it lies in the physical range of times.
std::optional<Seconds> time_per_step(double steps, double rate);

/// One row of a table for each of its data rows, in order. Missing `columns` are bad input, and the
/// first error that `read(csv, row)` returns stops the reading.
template <class Row, class Read>
Result<std::vector<Row>> read_rows(const Csv& csv, const std::vector<std::string>& columns,
                                   Read read) {
  const Status complete = csv.require_columns(columns);
  if (!complete.ok()) return complete.error();
  std::vector<Row> rows;
  rows.reserve(csv.rows());
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    Result<Row> row = read(csv, i);
    if (!row.ok()) return row.error();
    rows.push_back(std::move(*row));
  }
  return rows;
}

/// The same for the text of a table.
template <class Row, class Read>
Result<std::vector<Row>> read_rows(std::string_view text, const std::string& source,
                                   const std::vector<std::string>& columns, Read read) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  return read_rows<Row>(*csv, columns, read);
}

}  // namespace stint
