#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "catalog/catalog.h"

namespace stint {

/// Reads the cells of one row of a table of prices and keeps the first error.
class TableRow {
 public:
  TableRow(const Csv& csv, std::size_t row) : csv_(csv), row_(row) {}

  const std::optional<Error>& error() const { return error_; }
  int line() const { return csv_.line(row_); }

  std::string text(const char* column) const { return std::string(csv_.cell(row_, column)); }
  std::optional<std::string> optional_text(const char* column) const;
  std::string required(const char* column);
  std::optional<double> number(const char* column, Range range, NumberLimits limits = {});

  /// A whole number above zero; a zero is an unknown one.
  std::optional<int> count(const char* column);
  std::optional<bool> yes_or_no(const char* column);
  Date date(const char* column, const Date& fallback);

  /// The accelerators of a row: a name and a count belong together.
  std::optional<Accelerator> accelerator(const char* name_column, const char* count_column);

  template <class Q>
  std::optional<Q> quantity(const char* column, Q unit, Range range = Range::kPositive) {
    const auto value = number(column, range, limits_in(unit));
    if (!value) return std::nullopt;
    return *value * unit;
  }

  void fail(const char* column, std::string_view message) {
    if (!error_) error_ = csv_.error_at(row_, column, message);
  }

 private:
  const Csv& csv_;
  std::size_t row_;
  std::optional<Error> error_;
};

}  // namespace stint
