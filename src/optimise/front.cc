#include "optimise/front.h"

#include <algorithm>

namespace stint {
bool Front::wants(Seconds time, Dollars cost) const {
  // The last point that is as fast has the lowest cost of all of those.
  const auto slower = std::upper_bound(times_.begin(), times_.end(), time) - times_.begin();
  return slower == 0 || costs_[static_cast<std::size_t>(slower - 1)] > cost;
}

void Front::add(const Found& found) {
  if (!wants(found.outcome.time, found.outcome.cost)) return;
  const auto from =
      std::lower_bound(times_.begin(), times_.end(), found.outcome.time) - times_.begin();
  auto to = from;
  while (to != static_cast<std::ptrdiff_t>(costs_.size()) &&
         costs_[static_cast<std::size_t>(to)] >= found.outcome.cost) {
    ++to;
  }
  const auto replace = [&](auto& list, const auto& value) {
    list.insert(list.erase(list.begin() + from, list.begin() + to), value);
  };
  replace(points_, found);
  replace(times_, found.outcome.time);
  replace(costs_, found.outcome.cost);
}

std::optional<std::size_t> knee(const std::vector<Found>& front) {
  if (front.empty()) return std::nullopt;
  const Outcome& fast = front.front().outcome;
  const Outcome& cheap = front.back().outcome;
  if (front.size() < 3) return front.size() - 1;
  std::size_t best = front.size() - 1;
  double farthest = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double x = (front[i].outcome.time - fast.time) / (cheap.time - fast.time);
    const double y = (front[i].outcome.cost - cheap.cost) / (fast.cost - cheap.cost);
    if (1 - x - y <= farthest) continue;
    farthest = 1 - x - y;
    best = i;
  }
  return best;
}

}  // namespace stint
