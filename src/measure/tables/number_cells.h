#pragma once

#include <cstddef>
#include <optional>

#include "base/csv.h"
#include "base/result.h"

namespace stint {

/// The number above zero in a cell; nothing when the column is missing or the cell is blank or
/// "nan". Bad input with line and column otherwise.
Result<std::optional<double>> maybe_number(const Csv& csv, std::size_t row, const char* column);

/// The same where the number is required.
Result<double> needed_number(const Csv& csv, std::size_t row, const char* column);

}  // namespace stint
