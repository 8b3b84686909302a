#include "cli/render/figures.h"

#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace stint::cli {
namespace {

/// Answers are checked before they are shown (app/sound_answer.h); this is so that none says "inf
/// ms".
double finite(double value) {
  CHECK(std::isfinite(value));
  return value;
}

int decimals_of(double value) {
  return std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
}

/// `decimals`, and more where they would print an end of the interval as the mean.
int decimals_of(double p10, double mean, double p90, int decimals) {
  constexpr int kMost = 6;
  const auto same = [&](double end) {
    return end != mean &&
           fmt::format("{:.{}f}", end, decimals) == fmt::format("{:.{}f}", mean, decimals);
  };
  while (decimals < kMost && (same(p10) || same(p90))) ++decimals;
  return decimals;
}

/// Decimals that show two digits of an amount below one, and at least cents.
int small_decimals(double amount) {
  constexpr int kMost = 6;
  const double size = std::abs(amount);
  if (size <= 0 || size >= 0.1) return 2;
  return std::min(kMost, 1 - static_cast<int>(std::floor(std::log10(size))));
}

int cents_of(Dollars amount) {
  const double size = std::abs(amount.in(kDollar));
  return size >= 100 ? 0 : size < 0.01 ? small_decimals(size) : 2;
}

int decimals_of(const CostRange& cost, int decimals) {
  for (const Dollars it : {cost.mean, cost.p10, cost.p90}) finite(it.in(kDollar));
  return decimals_of(cost.p10.in(kDollar), cost.mean.in(kDollar), cost.p90.in(kDollar), decimals);
}

}  // namespace

std::string milliseconds(Seconds time) {
  const double value = finite(time.in(kMillisecond));
  return fmt::format("{:.{}f} ms", value, decimals_of(value));
}

std::string hours(Seconds time) {
  const Seconds size = time < Seconds{} ? -time : time;
  if (size > Seconds{} && size < 0.1 * kHour) return (time < size ? "-" : "") + duration(size);
  const double value = finite(time.in(kHour));
  return fmt::format("{:.{}f} h", value, decimals_of(value));
}

std::string duration(Seconds time, int more) {
  const auto with = [&](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", finite(value), decimals_of(value) + more, unit);
  };
  if (time < 1 * kSecond) return with(time.in(kMillisecond), "ms");
  if (time < 2 * kMinute) return fmt::format("{:.{}g} s", finite(time.in(kSecond)), 3 + more);
  if (time < 2 * kHour) return fmt::format("{:.{}g} min", time.in(kMinute), 3 + more);
  return with(time.in(kHour), "h");
}

std::string dollars(Dollars amount) {
  const bool negative = amount < Dollars{};
  const Dollars size = negative ? -amount : amount;
  return fmt::format("{}${:.{}f}", negative ? "-" : "", finite(size.in(kDollar)), cents_of(size));
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? percent(*fraction) : "";
}

std::string tenths(std::optional<double> fraction) {
  return fraction ? fmt::format("{:.1f} %", 100 * finite(*fraction)) : "";
}

std::string megabytes(Bytes bytes) { return fmt::format("{:.4g} MB", finite(bytes.in(kMB))); }

std::string percent(double fraction) {
  if (fraction > 0.9995 && fraction < 1) return ">99.9 %";
  if (fraction > 0 && fraction < 0.0005) return "<0.1 %";
  const bool fine = (fraction > 0.985 && fraction < 1) || (fraction > 0 && fraction < 0.015);
  return fmt::format("{:.{}f} %", 100 * finite(fraction), fine ? 1 : 0);
}

std::string with_interval(const TimeRange& time) {
  const bool brief = time.mean < 2 * kMinute;
  const bool short_one = time.mean < 1 * kHour;
  const Seconds unit = brief ? kSecond : short_one ? kMinute : kHour;
  const double mean = time.mean.in(unit);
  const int decimals = decimals_of(time.p10.in(unit), mean, time.p90.in(unit), decimals_of(mean));
  for (const Seconds it : {time.mean, time.p10, time.p90}) finite(it.in(kHour));
  return fmt::format("{:.{}f} {} ({:.{}f}–{:.{}f})", mean, decimals,
                     brief       ? "s"
                     : short_one ? "min"
                                 : "h",
                     time.p10.in(unit), decimals, time.p90.in(unit), decimals);
}

std::string with_interval(const CostRange& cost) {
  const double mean = cost.mean.in(kDollar);
  const int decimals = decimals_of(cost, mean < 1 ? small_decimals(mean) : decimals_of(mean));
  return fmt::format("${:.{}f} ({:.{}f}–{:.{}f})", mean, decimals, cost.p10.in(kDollar), decimals,
                     cost.p90.in(kDollar), decimals);
}

std::string range_text(const TimeRange& time) {
  constexpr int kMost = 3;
  int more = 0;
  const auto same = [&](Seconds end) {
    return end != time.mean && duration(end, more) == duration(time.mean, more);
  };
  while (more < kMost && (same(time.p10) || same(time.p90))) ++more;
  return fmt::format("{} ({}–{})", duration(time.mean, more), duration(time.p10, more),
                     duration(time.p90, more));
}

std::string bill_text(Dollars amount) {
  return amount < 1 * kDollar ? fmt::format("${:.4f}", amount.in(kDollar)) : dollars(amount);
}

std::string range_text(const CostRange& cost) {
  const int decimals = decimals_of(cost, cost.mean < 1 * kDollar ? 4 : cents_of(cost.mean));
  return fmt::format("${:.{}f} (${:.{}f}–${:.{}f})", cost.mean.in(kDollar), decimals,
                     cost.p10.in(kDollar), decimals, cost.p90.in(kDollar), decimals);
}

std::string sheet_line(std::string_view label, const std::string& text, const Terminal& terminal) {
  constexpr int kLabel = 16;
  return fmt::format("{:<{}}{}\n", label, kLabel,
                     wrapped(without_controls(text), terminal.width, kLabel));
}

}  // namespace stint::cli
