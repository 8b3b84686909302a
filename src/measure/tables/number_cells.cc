#include "measure/tables/number_cells.h"

#include <fmt/format.h>

#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {

Result<std::optional<double>> maybe_number(const Csv& csv, std::size_t row, const char* column) {
  const std::string_view text = csv.cell(row, column);
  if (text.empty() || to_lower(text) == "nan") return std::optional<double>();
  const auto number = positive_of(text);
  if (number) return number;
  return csv.error_at(row, column,
                      fmt::format("must be a number above zero, not '{}'", printable(text)));
}

Result<double> needed_number(const Csv& csv, std::size_t row, const char* column) {
  const auto number = maybe_number(csv, row, column);
  if (!number.ok()) return number.error();
  if (*number) return **number;
  return csv.error_at(row, column, "is required: a number above zero");
}

}  // namespace stint
