#include "optimise/setup_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

LogBelief prior_of(const std::vector<PredictedSetup>& setups) {
  std::vector<double> means;
  std::vector<double> deviations;
  for (const PredictedSetup& it : setups) {
    CHECK(it.time > Seconds{});
    means.push_back(std::log(it.time.in(kSecond)));
    deviations.push_back(std::max(PredictedTimes::kDeviationMin, it.deviation));
  }
  LogBelief prior(std::move(means));
  for (std::size_t i = 0; i < setups.size(); ++i) {
    for (std::size_t k = 0; k < setups.size(); ++k) {
      const double vms = std::abs(std::log(static_cast<double>(setups[i].vms) / setups[k].vms));
      const double batch =
          std::abs(std::log(static_cast<double>(setups[i].batch) / setups[k].batch));
      double alike = PredictedTimes::kAll;
      if (setups[i].type == setups[k].type) {
        alike += PredictedTimes::kType + PredictedTimes::kNear * std::exp(-vms - batch);
      }
      prior.between(i, k) = deviations[i] * deviations[k] * alike;
    }
  }
  return prior;
}

/// What is left open once figure `seen` is known to be `value`, give or take a deviation.
void condition(LogBelief& belief, std::size_t seen, double value, double deviation) {
  const std::size_t size = belief.size();
  std::vector<double> image(size);  // Covariance with what is seen.
  for (std::size_t i = 0; i < size; ++i) image[i] = belief.between(i, seen);
  const double variance = image[seen] + deviation * deviation;
  const double error = value - belief.mean[seen];
  for (std::size_t i = 0; i < size; ++i) {
    belief.mean[i] += image[i] / variance * error;
    for (std::size_t k = 0; k < size; ++k) belief.between(i, k) -= image[i] * image[k] / variance;
  }
}

}  // namespace

PredictedTimes::PredictedTimes(const std::vector<PredictedSetup>& setups)
    : prior_(prior_of(setups)), belief_(prior_), timed_(setups.size()) {}

Status PredictedTimes::learn(std::size_t setup, Seconds time) {
  CHECK(setup < timed_.size());
  CHECK(time > Seconds{});
  timed_[setup] = time;
  belief_ = prior_;
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    if (timed_[i]) condition(belief_, i, std::log(timed_[i]->in(kSecond)), kTimingDeviation);
  }
  return {};
}

}  // namespace stint
