#include "supervise/run_terms.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <utility>

namespace stint {

std::string rounded(Seconds time) {
  if (time < 99.5 * kSecond) return fmt::format("{:.0f} s", time.in(kSecond));
  if (time < 99.5 * kMinute) return fmt::format("{:.0f} min", time.in(kMinute));
  const double minutes = std::round(time.in(kMinute));
  const double hours = std::floor(minutes / 60);
  return fmt::format("{:.0f} h {:.0f} min", hours, minutes - 60 * hours);
}

std::string vm_name(int vm) { return fmt::format("vm{}", std::int64_t{vm} + 1); }

std::string counted(int count) {
  return fmt::format("{} {}", count, count == 1 ? "machine" : "machines");
}

std::string market_name(Market market) {
  return market == Market::kSpot ? "a spot machine" : "an on-demand machine";
}

std::vector<int> training_slots(const RunTerms& terms) {
  std::vector<int> found;
  for (std::size_t i = 0; i < terms.slots.size(); ++i) {
    if (terms.slots[i].trains) found.push_back(static_cast<int>(i));
  }
  return found;
}

// Sets of slots; a long run on many machines meets another one with each loss.
constexpr std::size_t kRemembered = 1000;

StepTime remembered(StepTime step_time) {
  // The cache is shared, because functions are copied.
  auto known = std::make_shared<std::map<std::vector<int>, Seconds>>();
  return [known, step_time = std::move(step_time)](std::span<const int> slots) {
    std::vector<int> key(slots.begin(), slots.end());
    const auto found = known->find(key);
    if (found != known->end()) return found->second;
    if (known->size() >= kRemembered) known->clear();
    return known->emplace(std::move(key), step_time(slots)).first->second;
  };
}

}  // namespace stint
