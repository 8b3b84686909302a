#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// The day, or only the month, of a figure: "2026-07-20" or "2025-07".
struct Date {
  int year = 1970;
  int month = 1;
  int day = 0;  // 0: only the month is known.

  auto operator<=>(const Date&) const = default;
};

Result<Date> parse_date(std::string_view text);
std::string to_text(const Date& date);

/// The day on which `since_epoch` (see Clock) falls, in UTC.
Date date_at(Seconds since_epoch);

/// "2026-11-15", "2026-11-15T13:00Z" or "2026-11-15T13:00:05Z" as time since 1970 (see Clock); a
/// date without a time is its first moment. Nothing when `text` is none of them.
std::optional<Seconds> parse_instant(std::string_view text);

/// Days from `earlier` to `later`; a date without a day counts as the first of its month.
int days_between(const Date& earlier, const Date& later);

/// The regular expression of date texts, for JSON Schema.
inline constexpr const char* kDatePattern =
    "^[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?$";

}  // namespace stint
