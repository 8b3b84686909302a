#include "measure/tables/table_cells.h"

#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace stint {

std::optional<int> count_of(std::string_view text) {
  const auto value = parse_int(text);
  if (!value || *value < 1 || *value > kMaxWorkers) return std::nullopt;
  return value;
}

std::optional<double> positive_of(std::string_view text) {
  const auto value = parse_double(text);
  if (!value || !(*value > 0)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_of(std::string_view text) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53: doubles hold whole numbers to here.
  const auto value = positive_of(text);
  if (!value || *value > kLargestExact || std::floor(*value) != *value) return std::nullopt;
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
  if (!std::isfinite(seconds) || !(seconds > 0)) return std::nullopt;
  return seconds * kSecond;
}

}  // namespace stint
