#include "app/plan/front_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"

namespace stint {
namespace {

constexpr const char* kKnee = "knee";

/// How far each point is from the first along the front, with time and cost on log scales.
std::vector<double> way_along(const std::vector<Plan>& front) {
  std::vector<double> way = {0};
  for (std::size_t i = 1; i < front.size(); ++i) {
    const double time = std::log(front[i].time.mean / front[i - 1].time.mean);
    const double cost = std::log(front[i].cost.mean / front[i - 1].cost.mean);
    way.push_back(way.back() + std::hypot(time, cost));
  }
  return way;
}

/// `rows` points of the front that are about evenly far apart, with both ends and `always` among
/// them where there is room.
std::vector<std::size_t> spread(const std::vector<Plan>& front, std::size_t always,
                                std::size_t rows) {
  const std::vector<double> way = way_along(front);
  std::set<std::size_t> chosen = {always};
  if (rows > 1) chosen.insert(0);
  if (rows > 2) chosen.insert(front.size() - 1);
  while (chosen.size() < std::min(rows, front.size())) {
    // The point that is farthest from all that were chosen.
    std::size_t farthest = 0;
    double most = -1;
    for (std::size_t i = 0; i < front.size(); ++i) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const std::size_t k : chosen) nearest = std::min(nearest, std::abs(way[i] - way[k]));
      if (chosen.count(i) > 0 || nearest <= most) continue;
      most = nearest;
      farthest = i;
    }
    chosen.insert(farthest);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace

void mark_knee(Plan& plan) {
  if (is_knee(plan)) return;
  plan.note = plan.note ? std::string(kKnee) + "; " + *plan.note : kKnee;
}

bool is_knee(const Plan& plan) { return plan.note && plan.note->starts_with(kKnee); }

bool same_plan(const Plan& a, const Plan& b) {
  return a.cluster == b.cluster && a.global_batch == b.global_batch && a.time.mean == b.time.mean;
}

std::vector<Plan> front_rows(const std::vector<Plan>& front, int rows) {
  CHECK(rows >= 1);
  const auto knee = std::find_if(front.begin(), front.end(), is_knee);
  CHECK(knee != front.end());
  const auto at = static_cast<std::size_t>(knee - front.begin());
  std::vector<Plan> plans;
  for (const std::size_t index : spread(front, at, static_cast<std::size_t>(rows))) {
    plans.push_back(front[index]);
  }
  return plans;
}

}  // namespace stint
