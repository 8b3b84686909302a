#include "supervise/run_speed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stint {
namespace {

constexpr int kWarmUp = 2;
constexpr std::size_t kSteps = 9;  // Steps that determine the present speed.
constexpr std::size_t kMany = 50;  // Steps that determine its variation.
constexpr double kMoved = 0.1;     // A smaller relative change does not count.

}  // namespace

void RunSpeed::begin(Seconds predicted) {
  predicted_ = predicted;
  warm_up_ = kWarmUp;
  recent_.clear();
  median_.reset();
  first_.reset();
}

void RunSpeed::forget() {
  ratio_.reset();
  ratios_.clear();
}

std::optional<double> RunSpeed::ratio_max() const {
  if (!ratio_) return {};
  const auto count = static_cast<double>(ratios_.size());
  const double mean = std::accumulate(ratios_.begin(), ratios_.end(), 0.0) / count;
  double squares = 0;
  for (const double ratio : ratios_) squares += (ratio - mean) * (ratio - mean);
  return std::max(*ratio_, mean + 3 * std::sqrt(squares / (count - 1) / count));
}

void RunSpeed::see(Seconds step, int steps) {
  if (warm_up_ > 0) {
    warm_up_ -= std::min(warm_up_, steps);
    return;
  }
  ratios_.push_back(step / predicted_);
  if (ratios_.size() > kMany) ratios_.erase(ratios_.begin());
  // Several steps count as many equal ones, so that a change of speed shows as soon as it would
  // step by step.
  for (std::size_t i = 0; i < std::min<std::size_t>(kSteps, static_cast<std::size_t>(steps)); ++i) {
    recent_.push_back(step);
    if (recent_.size() > kSteps) recent_.erase(recent_.begin());
  }
  if (recent_.size() < kSteps) return;
  std::vector<Seconds> times = recent_;
  const auto middle = times.begin() + kSteps / 2;
  std::nth_element(times.begin(), middle, times.end());
  median_ = *middle;
  ratio_ = *median_ / predicted_;
  if (!first_) first_ = ratio_;
}

bool ReplanTrigger::fires(double ratio, double low, double high, int attempt) {
  if (ratio >= low && ratio <= high) return false;
  if (attempt_ == attempt) return false;
  if (last_ && ratio > *last_ / (1 + kMoved) && ratio < *last_ * (1 + kMoved)) return false;
  attempt_ = attempt;
  last_ = ratio;
  return true;
}

}  // namespace stint
