#include "run/run_speed.h"

#include <algorithm>

namespace stint {
namespace {

constexpr std::size_t kSteps = 9;  // That tell the present speed.
constexpr double kMoved = 0.1;     // A measurement that changed less is the same.

}  // namespace

void RunSpeed::begin(Seconds predicted) {
  predicted_ = predicted;
  recent_.clear();
}

void RunSpeed::see(Seconds step) {
  recent_.push_back(step);
  if (recent_.size() > kSteps) recent_.erase(recent_.begin());
  if (const auto measured = median()) ratio_ = *measured / predicted_;
}

std::optional<Seconds> RunSpeed::median() const {
  if (recent_.size() < kSteps) return {};
  std::vector<Seconds> times = recent_;
  const auto middle = times.begin() + kSteps / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
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
