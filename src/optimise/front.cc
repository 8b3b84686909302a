#include "optimise/front.h"

#include <algorithm>

namespace stint {
namespace {

bool faster(const Found& found, Seconds time) { return found.outcome.time < time; }

}  // namespace

bool Front::wants(Seconds time, Dollars cost) const {
  // The last point that is as fast has the lowest cost of all of those.
  const auto slower = std::upper_bound(
      points_.begin(), points_.end(), time,
      [](Seconds limit, const Found& found) { return limit < found.outcome.time; });
  return slower == points_.begin() || std::prev(slower)->outcome.cost > cost;
}

void Front::add(const Found& found) {
  if (!wants(found.outcome.time, found.outcome.cost)) return;
  const auto from = std::lower_bound(points_.begin(), points_.end(), found.outcome.time, faster);
  auto to = from;
  while (to != points_.end() && to->outcome.cost >= found.outcome.cost) ++to;
  points_.insert(points_.erase(from, to), found);
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
