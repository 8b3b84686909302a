#include "base/date.h"

#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

std::chrono::sys_days to_days(const Date& date) {
  const int day = date.day == 0 ? 1 : date.day;
  return std::chrono::year(date.year) / date.month / day;
}

bool shaped_like_a_date(std::string_view text) {
  if (text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : !is_digit(text[i])) return false;
  }
  return true;
}

}  // namespace

Result<Date> parse_date(std::string_view text) {
  const Error error = bad_usage(fmt::format(
      "'{}' is not a date: write year-month-day or year-month, for example '2026-07-20'",
      printable(text)));
  if (!shaped_like_a_date(text)) return error;
  Date date{.year = *parse_int(text.substr(0, 4)), .month = *parse_int(text.substr(5, 2))};
  if (text.size() == 10) {
    date.day = *parse_int(text.substr(8, 2));
    if (date.day == 0) return error;
  }
  const auto month = static_cast<unsigned>(date.month);
  const auto day = static_cast<unsigned>(date.day == 0 ? 1 : date.day);
  const std::chrono::year_month_day checked{std::chrono::year(date.year), std::chrono::month(month),
                                            std::chrono::day(day)};
  if (!checked.ok()) return error;
  return date;
}

std::string to_text(const Date& date) {
  if (date.day == 0) return fmt::format("{:04}-{:02}", date.year, date.month);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

Date date_at(Seconds since_epoch) {
  const auto days = static_cast<int>(std::floor(since_epoch.in(kDay)));
  const std::chrono::year_month_day day{std::chrono::sys_days(std::chrono::days(days))};
  return {.year = static_cast<int>(day.year()),
          .month = static_cast<int>(static_cast<unsigned>(day.month())),
          .day = static_cast<int>(static_cast<unsigned>(day.day()))};
}

std::optional<Seconds> parse_instant(std::string_view text) {
  const auto date = parse_date(text.substr(0, 10));
  if (!date.ok() || text.size() < 10) return std::nullopt;
  const Seconds day = days_between({.year = 1970, .month = 1, .day = 1}, *date) * kDay;
  if (text.size() == 10) return day;
  const bool with_seconds = text.size() == 20 && text[16] == ':';
  const bool shaped = (text.size() == 17 || with_seconds) && text[10] == 'T' && text[13] == ':';
  if (!shaped || text.back() != 'Z') return std::nullopt;
  const auto hour = parse_int(text.substr(11, 2));
  const auto minute = parse_int(text.substr(14, 2));
  const auto second = with_seconds ? parse_int(text.substr(17, 2)) : 0;
  const auto within = [](const std::optional<int>& value, int limit) {
    return value && *value >= 0 && *value < limit;
  };
  if (!within(hour, 24) || !within(minute, 60) || !within(second, 60)) return std::nullopt;
  return day + *hour * kHour + *minute * kMinute + *second * kSecond;
}

int days_between(const Date& earlier, const Date& later) {
  return static_cast<int>((to_days(later) - to_days(earlier)).count());
}

}  // namespace stint
