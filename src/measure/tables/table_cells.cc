#include "measure/tables/table_cells.h"

#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "base/unit_text.h"

namespace stint {

std::optional<int> count_of(std::string_view text) {
  const auto value = parse_int(text);
  if (!value || *value < 1 || *value > kMaxWorkers) return std::nullopt;
  return value;
}

std::optional<double> positive_of(std::string_view text) {
  const auto value = parse_double(text);
  constexpr NumberLimits kLimits;
  if (!value || *value < kLimits.min || *value > kLimits.max) return std::nullopt;
  return value;
}

std::optional<Seconds> time_of(std::string_view text, Seconds unit) {
  const auto value = positive_of(text);
  return value ? time_per_step(*value * unit.in(kSecond), 1) : std::nullopt;
}

std::optional<std::int64_t> whole_of(std::string_view text) {
  const auto value = positive_of(text);
  if (!value || *value > static_cast<double>(kLongCountMax) || std::floor(*value) != *value)
    return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string unreadable(std::string_view what, std::string_view text) {
  return fmt::format("invalid {} '{}'", what, printable(text));
}

void mark_unusable(StepRow& row, std::string reason) {
  if (row.unusable.empty()) row.unusable = std::move(reason);
}

void mark_unmeasured(StepRow& row, std::string reason) {
  CHECK(!reason.empty());
  row.unmeasured = std::move(reason);
  row.time.reset();
}

std::optional<Seconds> time_per_step(double steps, double rate) {
  const double seconds = steps / rate;
  const NumberLimits range = quantity_range<Seconds>();
  if (!(seconds >= range.min && seconds <= range.max)) return std::nullopt;
  return seconds * kSecond;
}

}  // namespace stint
