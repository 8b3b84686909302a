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

int days_between(const Date& earlier, const Date& later) {
  return static_cast<int>((to_days(later) - to_days(earlier)).count());
}

}  // namespace stint
