#include "calibrate/reduction_spread.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

double mean_of(const std::vector<double>& values) {
  CHECK(!values.empty());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// A variance pooled over groups that each have a mean of their own.
class Pooled {
 public:
  void add(const std::vector<double>& group) {
    const double mean = mean_of(group);
    for (const double value : group) squares_ += (value - mean) * (value - mean);
    freedom_ += static_cast<double>(group.size()) - 1;
  }

  std::optional<double> variance() const {
    if (freedom_ <= 0) return std::nullopt;
    return squares_ / freedom_;
  }

 private:
  double squares_ = 0;
  double freedom_ = 0;
};

std::optional<double> deviation(std::optional<double> variance, double below) {
  if (!variance) return std::nullopt;
  return std::sqrt(std::max(0.0, *variance - below));
}

}  // namespace

ReductionSpread spread_of(const std::vector<ReductionTimes>& sums) {
  Pooled repeats;
  Pooled rounds;
  std::vector<double> pairs;
  double times = 0;
  double round_count = 0;
  for (const ReductionTimes& sum : sums) {
    std::vector<double> means;
    for (const auto& round : sum.rounds) {
      std::vector<double> logs;
      for (const Seconds time : round) logs.push_back(std::log(time / sum.expected));
      repeats.add(logs);
      means.push_back(mean_of(logs));
      times += static_cast<double>(logs.size());
    }
    rounds.add(means);
    round_count += static_cast<double>(means.size());
    if (sum.pair) pairs.push_back(mean_of(means));
  }
  ReductionSpread spread{.repeats = deviation(repeats.variance(), 0)};
  if (sums.empty()) return spread;
  const double within = spread.repeats.value_or(0) * spread.repeats.value_or(0);
  const double per_round = times / round_count;
  const double per_sum = round_count / static_cast<double>(sums.size());
  spread.time = deviation(rounds.variance(), within / per_round);
  const double between = spread.time.value_or(0) * spread.time.value_or(0);
  Pooled of_pairs;
  if (!pairs.empty()) of_pairs.add(pairs);
  spread.pairs = deviation(of_pairs.variance(), between / per_sum + within / (per_sum * per_round));
  return spread;
}

}  // namespace stint
