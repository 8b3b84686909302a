#include "catalog/table_row.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stint {

std::optional<std::string> TableRow::optional_text(const char* column) const {
  std::string value = text(column);
  return value.empty() ? std::nullopt : std::optional(std::move(value));
}

std::string TableRow::required(const char* column) {
  std::string value = text(column);
  if (value.empty()) fail(column, "must not be empty");
  return value;
}

std::optional<double> TableRow::number(const char* column, Range range, NumberLimits limits) {
  const std::string value = text(column);
  if (value.empty()) return std::nullopt;
  const auto parsed = parse_double(value);
  if (!parsed) {
    fail(column, fmt::format("'{}' is not a number; leave the cell empty if it is unknown",
                             printable(value)));
    return std::nullopt;
  }
  const std::string wrong = range_problem(range, *parsed, printable(value), limits);
  if (!wrong.empty()) fail(column, wrong);
  return parsed;
}

std::optional<int> TableRow::count(const char* column) {
  const auto value = number(column, Range::kNotNegative, {.max = kCountMax});
  if (!value || *value == 0 || error_) return std::nullopt;
  const auto whole = static_cast<int>(*value);
  if (*value != whole) fail(column, fmt::format("must be a whole number, not {}", *value));
  return whole;
}

std::optional<bool> TableRow::yes_or_no(const char* column) {
  const std::string value = text(column);
  if (!value.empty() && value != "yes" && value != "no") {
    fail(column, fmt::format("must be yes or no, not '{}'", printable(value)));
  }
  return value.empty() ? std::nullopt : std::optional(value == "yes");
}

Date TableRow::date(const char* column, const Date& fallback) {
  const std::string value = text(column);
  if (value.empty()) return fallback;
  const auto parsed = parse_date(value);
  if (!parsed.ok()) {
    fail(column, parsed.error().message);
    return fallback;
  }
  return *parsed;
}

std::optional<Accelerator> TableRow::accelerator(const char* name_column,
                                                 const char* count_column) {
  const auto name = optional_text(name_column);
  const auto number_of = count(count_column);
  if (name && !number_of) {
    fail(count_column, fmt::format("the number of {} is missing", printable(*name)));
  }
  if (!name && number_of) fail(name_column, "must not be empty beside a count");
  if (!name || !number_of) return std::nullopt;
  return Accelerator{.name = *name, .count = *number_of};
}

}  // namespace stint
