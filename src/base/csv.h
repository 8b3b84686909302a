#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stint {

/// A table has at most this many cells. A cell takes up to some 150 bytes of memory, so that no
/// table of a size that read_file accepts takes more than 700 MB.
inline constexpr std::size_t kCsvCellsMax = 4'000'000;

/// A comma-separated table with a header line (RFC 4180): cells may be quoted and hold commas,
/// quotes and line breaks; CRLF, a byte order mark, a missing final newline and blank lines are
/// all accepted.
class Csv {
 public:
  /// Errors are bad input and name `source` and the line. Refuses more than `cells_max` cells
  /// (kCsvCellsMax).
  static Result<Csv> parse(std::string_view text, const std::string& source, std::size_t cells_max);
  static Result<Csv> parse(std::string_view text, const std::string& source);

  const std::vector<std::string>& header() const { return header_; }
  std::size_t rows() const { return rows_.size(); }

  /// The line of the file on which `row` begins, from 1.
  int line(std::size_t row) const { return rows_[row].line; }

  std::optional<std::size_t> find_column(std::string_view name) const;

  /// Bad input naming the columns that are missing from the header, if any are.
  Status require_columns(const std::vector<std::string>& names) const;

  const std::string& cell(std::size_t row, std::size_t column) const;

  /// The cell under `name`, trimmed; empty when there is no such column.
  std::string_view cell(std::size_t row, std::string_view name) const;

  /// "prices.csv:12: column Price: `message`" as bad input.
  Error error_at(std::size_t row, std::string_view column, std::string_view message) const;

 private:
  std::string repeated_column() const;

  struct Row {
    std::vector<std::string> cells;
    int line = 0;
  };

  std::string source_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

/// `cell`, quoted where necessary.
std::string csv_cell(std::string_view cell);

/// One line of a table, with its newline.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace stint
