#pragma once

#include <string>
#include <string_view>

#include "base/csv.h"
#include "measure/sharded/sharded_table.h"

namespace stint {

/// Reads cells of one row of a table and keeps the first complaint in the row.
class ShardedCells {
 public:
  ShardedCells(const Csv& csv, std::size_t line, ShardedRow& row)
      : csv_(csv), line_(line), row_(row) {}

  std::string_view text(std::string_view column) const { return csv_.cell(line_, column); }
  bool blank(std::string_view column) const;

  /// A whole number from 1 to the largest degree; blank or "n/a": `otherwise`, if it is given.
  int count(std::string_view column);
  int count(std::string_view column, int otherwise);

  /// A number above zero; blank: `otherwise`, if it is given.
  double number(std::string_view column);
  double number(std::string_view column, double otherwise);

  /// A stage of ZeRO from 0 to 3; blank: `otherwise`.
  int zero_stage(std::string_view column, int otherwise);

  /// Sets the time from the first of `columns` of seconds that has a cell.
  void set_time(std::initializer_list<std::string_view> columns);

  /// Sets the time of a step of `amount` from a column of what is done in a second.
  void set_time_from_rate(std::string_view column, double amount);

  /// The product of the degrees is the number of workers, and the batch divides over replicas.
  void check_layout();

  void reject(std::string reason);

 private:
  void complain(std::string_view column);

  const Csv& csv_;
  std::size_t line_;
  ShardedRow& row_;
};

/// Readers of single rows; sharded_table.h says what each is.
Result<ShardedRow> vtrain_row(const Csv& csv, std::size_t i);
Result<ShardedRow> foundry_row(const Csv& csv, std::size_t i);
Result<ShardedRow> lucie_row(const Csv& csv, std::size_t i);
Result<ShardedRow> bloom_row(const Csv& csv, std::size_t i);
Result<ShardedRow> nanotron_row(const Csv& csv, std::size_t i);
Result<ShardedRow> fsdp_row(const Csv& csv, std::size_t i);
Result<ShardedRow> morphling_row(const Csv& csv, std::size_t i);
Result<ShardedRow> sailor_row(const Csv& csv, std::size_t i);
Result<ShardedRow> nemo_row(const Csv& csv, std::size_t i);
Result<ShardedRow> dgxc_sharded_row(const Csv& csv, std::size_t i);

}  // namespace stint
