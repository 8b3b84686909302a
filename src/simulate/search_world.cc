#include "simulate/search_world.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace stint {
namespace {

double line_at(double x0, double y0, double x1, double y1, double x) {
  return x1 == x0 ? y1 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/// The least sum of the cost of steps (by setup) and of moves, from the start.
double least_sum(const SearchWorld& world, std::size_t start, const std::vector<double>& per_step,
                 const std::vector<double>& move) {
  const std::size_t setups = world.setups.size();
  std::vector<double> left(setups, 0.0);
  for (int place = kSeerPlaces; place-- > 0;) {
    const double from = static_cast<double>(place) / kSeerPlaces;
    const double to = static_cast<double>(place + 1) / kSeerPlaces;
    std::map<int, double> steps;
    for (const auto& [batch, curve] : world.curves) {
      steps[batch] = steps_at(curve, to) - steps_at(curve, from);
    }
    double elsewhere = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < setups; ++i) {
      left[i] += steps.at(world.setups[i].batch) * per_step[i];
      elsewhere = std::min(elsewhere, left[i] + move[i]);
    }
    for (double& it : left) it = std::min(it, elsewhere);
  }
  return left[start];
}

}  // namespace

double steps_at(const WayCurve& curve, double way) {
  WayPoint before;
  for (const WayPoint& point : curve) {
    if (point.way >= way) return line_at(before.way, before.steps, point.way, point.steps, way);
    before = point;
  }
  return before.steps;
}

double way_at(const WayCurve& curve, double steps) {
  WayPoint before;
  for (const WayPoint& point : curve) {
    if (point.steps >= steps)
      return line_at(before.steps, before.way, point.steps, point.way, steps);
    before = point;
  }
  return before.way;
}

std::optional<double> noise_at(const WayCurve& curve, double way) {
  for (const WayPoint& point : curve) {
    if (point.way >= way) return point.noise;
  }
  return curve.back().noise;
}

void SearchedRun::move(std::size_t to) {
  now_ = to;
  time_ += world_->move;
  cost_ += world_->move * world_->rate(to);
  ++moves_;
}

void SearchedRun::advance(double way) {
  const double steps = steps_at(curve(), way) - steps_at(curve(), way_);
  const Seconds took = steps * world_->setups[now_].step;
  time_ += took;
  cost_ += took * world_->rate(now_);
  way_ = way;
}

void SearchedRun::train(double steps) {
  CHECK(steps > 0);
  advance(std::min(1.0, way_at(curve(), steps_at(curve(), way_) + steps)));
}

void SearchedRun::train_epoch() {
  constexpr double kNothing = 1e-9;
  for (const WayPoint& point : curve()) {
    if (point.way <= way_ + kNothing) continue;
    advance(std::min(1.0, point.way));
    return;
  }
  advance(1);
}

std::optional<double> SearchedRun::noise() const { return noise_at(curve(), way_); }

Seconds least_time(const SearchWorld& world, std::size_t start) {
  std::vector<double> per_step;
  for (const SearchSetup& setup : world.setups) per_step.push_back(setup.step.in(kSecond));
  const std::vector<double> move(world.setups.size(), world.move.in(kSecond));
  return least_sum(world, start, per_step, move) * kSecond;
}

Dollars least_cost(const SearchWorld& world, std::size_t start) {
  std::vector<double> per_step;
  std::vector<double> move;
  for (std::size_t i = 0; i < world.setups.size(); ++i) {
    per_step.push_back((world.setups[i].step * world.rate(i)).in(kDollar));
    move.push_back((world.move * world.rate(i)).in(kDollar));
  }
  return least_sum(world, start, per_step, move) * kDollar;
}

}  // namespace stint
