#include "supervise/run_words.h"

#include <cmath>
#include <fmt/format.h>

namespace stint {

std::string rounded(Seconds time) {
  if (time < 99.5 * kSecond) return fmt::format("{:.0f} s", time.in(kSecond));
  if (time < 99.5 * kMinute) return fmt::format("{:.0f} min", time.in(kMinute));
  const double minutes = std::round(time.in(kMinute));
  const double hours = std::floor(minutes / 60);
  return fmt::format("{:.0f} h {:.0f} min", hours, minutes - 60 * hours);
}

std::string vm_name(int vm) { return fmt::format("vm{}", vm + 1); }

std::string counted(int count) {
  return fmt::format("{} {}", count, count == 1 ? "machine" : "machines");
}

std::string market_name(Market market) {
  return market == Market::kSpot ? "a spot machine" : "an on-demand machine";
}

}  // namespace stint
