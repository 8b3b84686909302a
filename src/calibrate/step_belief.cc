#include "calibrate/step_belief.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kTimingDeviation = 0.01;  // Deviation of a timed setup: a few iterations.

const std::span<const LawName<FabricLaw>> kFabricNames = law_names(FabricLaw{});
const std::span<const LawName<JobLaw>> kJobNames = law_names(JobLaw{});

std::size_t unknown_count() { return kFabricNames.size() + kJobNames.size() + 2; }

/// The lower triangle L of L Lᵀ = covariance, of its first `size` unknowns.
std::vector<std::vector<double>> root_of(const std::vector<std::vector<double>>& covariance,
                                         std::size_t size) {
  std::vector<std::vector<double>> root(size, std::vector<double>(size, 0.0));
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      double sum = covariance[i][k];
      for (std::size_t j = 0; j < k; ++j) sum -= root[i][j] * root[k][j];
      if (i == k) {
        root[i][i] = std::sqrt(std::max(0.0, sum));
      } else if (root[k][k] > 0) {
        root[i][k] = sum / root[k][k];
      }
    }
  }
  return root;
}

struct Point {
  double batch = 1;
  double time = 0;
};

/// ln(b₀/smallest batch) of T = c (b + b₀), within a factor of 30.
double floor_of(const std::vector<Point>& points) {
  double batch = 0;
  double time = 0;
  double smallest = points.front().batch;
  for (const Point& point : points) {
    batch += point.batch / static_cast<double>(points.size());
    time += point.time / static_cast<double>(points.size());
    smallest = std::min(smallest, point.batch);
  }
  double above = 0;
  double below = 0;
  for (const Point& point : points) {
    above += (point.batch - batch) * (point.time - time);
    below += (point.batch - batch) * (point.batch - batch);
  }
  constexpr double kFurthest = 30;
  if (above <= 0) return std::log(kFurthest);
  const double floor = time * below / above - batch;
  return std::log(std::clamp(floor / smallest, 1 / kFurthest, kFurthest));
}

double size_power(Bytes gradients) { return kTimeBySize * std::log(gradients / (100 * kMB)); }

/// The mean, and the deviation with `believed` as one more deviation from the mean.
std::pair<double, double> mean_and_deviation(const std::vector<double>& values, double believed) {
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double square = believed * believed;
  for (const double value : values) square += (value - mean) * (value - mean);
  return {mean, std::sqrt(square / count)};
}

}  // namespace

ComputePrior compute_prior(std::span<const StepRow> rows, const JobFacts& facts) {
  std::map<std::string, std::vector<Point>> by_job;
  for (const StepRow& row : rows) {
    if (!row.time || !row.unusable.empty() || workers(row) != 1) continue;
    by_job[row.job].push_back({row.batch_per_worker, (row.times_per_step * *row.time).in(kSecond)});
  }
  std::vector<double> floors{std::log(0.5)};
  std::vector<double> times{std::log(0.15)};
  for (const auto& [job, points] : by_job) {
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [](const Point& a, const Point& b) { return a.batch < b.batch; });
    const auto known = facts.find(job);
    const Bytes gradients = known == facts.end() ? kAssumedGradients : known->second.gradient_bytes;
    times.push_back(std::log(low->time) - size_power(gradients));
    if (high->batch > low->batch) floors.push_back(floor_of(points));
  }
  const auto [floor, floor_deviation] = mean_and_deviation(floors, 1);
  const auto [time, time_deviation] = mean_and_deviation(times, std::log(3.0));
  return {.floor = floor,
          .floor_deviation = floor_deviation,
          .time = time,
          .time_deviation = time_deviation};
}

StepBelief::StepBelief(const FittedLaw& law, const ComputePrior& compute, double batch_min,
                       bool size_known)
    : law_(law),
      compute_(compute),
      batch_min_(batch_min),
      size_known_(size_known),
      root_(root_of(law.solution.covariance, kFabricNames.size())) {
  CHECK(batch_min > 0);
  fitted_.values.assign(unknown_count(), 0.0);
}

Seconds StepBelief::alone(std::span<const double> unknowns, const LawInput& input) const {
  const double batch = input.batch_per_worker;
  const double time = compute_.time + size_power(input.gradients) +
                      compute_.time_deviation * unknowns[unknowns.size() - 2];
  const double floor = std::exp(compute_.floor + compute_.floor_deviation * unknowns.back());
  return std::exp(time) * (batch / batch_min_ + floor) / (1 + floor) * kSecond;
}

double StepBelief::log_time(std::span<const double> unknowns, LawInput input) const {
  FabricLaw fabric = law_.fabric;
  for (std::size_t i = 0; i < kFabricNames.size(); ++i) {
    double& value = fabric.*kFabricNames[i].second;
    for (std::size_t k = 0; k <= i; ++k) value += root_[i][k] * unknowns[k];
  }
  JobLaw job;
  for (std::size_t i = 0; i < kJobNames.size(); ++i) {
    if (kJobNames[i].second == &JobLaw::size && size_known_) continue;
    job.*kJobNames[i].second = law_.dispersion * law_.priors.job_deviation.*kJobNames[i].second *
                               unknowns[kFabricNames.size() + i];
  }
  input.alone = alone(unknowns, input);
  return std::log(law_time(fabric, job, input).in(kSecond));
}

double StepBelief::noise_variance(std::span<const double> unknowns, LawInput input) const {
  const Seconds time = std::exp(log_time(unknowns, input)) * kSecond;
  input.alone = alone(unknowns, input);
  return law_.noise_variance("", input, time);
}

Status StepBelief::add(const TimedSetup& timed) {
  CHECK(timed.time > Seconds{});
  const bool first = timed_.empty();
  timed_.push_back(timed);
  std::vector<double> start = fitted_.values;
  if (first) {
    // As if it only computed.
    const double ratio = timed.time / alone(start, timed.input);
    start[start.size() - 2] = std::log(ratio) / compute_.time_deviation;
  }
  std::vector<double> deviations;
  for (const TimedSetup& it : timed_) {
    deviations.push_back(std::hypot(kTimingDeviation, std::sqrt(noise_variance(start, it.input))));
  }
  LeastSquares task{.unknowns = {}, .rows = timed_.size(), .residuals = {}};
  for (const double value : start) task.unknowns.push_back({.start = value});
  task.residuals = [&](std::span<const double> x, std::span<double> residuals) {
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      const double error = log_time(x, timed_[i].input) - std::log(timed_[i].time.in(kSecond));
      residuals[i] = error / deviations[i];
    }
  };
  auto fitted = fit(task);
  if (!fitted.ok()) return fitted.error();
  fitted_ = std::move(*fitted);
  return {};
}

LogBelief StepBelief::at(std::span<const LawInput> setups,
                         std::span<const std::optional<Seconds>> timed) const {
  CHECK(!timed_.empty());
  CHECK(timed.size() == setups.size());
  constexpr double kDifference = 1e-3;
  const std::size_t unknowns = fitted_.values.size();
  LogBelief belief(std::vector<double>(setups.size()));
  std::vector<std::vector<double>> slopes(setups.size(), std::vector<double>(unknowns, 0.0));
  std::vector<std::vector<double>> images = slopes;  // Σ times the slopes.
  std::vector<double> moved = fitted_.values;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    if (timed[i]) {
      belief.mean[i] = std::log(timed[i]->in(kSecond));
      belief.between(i, i) = kTimingDeviation * kTimingDeviation;
      continue;
    }
    belief.mean[i] = log_time(fitted_.values, setups[i]);
    for (std::size_t k = 0; k < unknowns; ++k) {
      moved[k] = fitted_.values[k] + kDifference;
      slopes[i][k] = (log_time(moved, setups[i]) - belief.mean[i]) / kDifference;
      moved[k] = fitted_.values[k];
    }
    for (std::size_t k = 0; k < unknowns; ++k) {
      for (std::size_t j = 0; j < unknowns; ++j) {
        images[i][k] += fitted_.covariance[k][j] * slopes[i][j];
      }
    }
  }
  for (std::size_t i = 0; i < setups.size(); ++i) {
    if (timed[i]) continue;
    for (std::size_t k = 0; k <= i; ++k) {
      if (timed[k]) continue;
      double sum = 0;
      for (std::size_t j = 0; j < unknowns; ++j) sum += slopes[i][j] * images[k][j];
      belief.between(i, k) = belief.between(k, i) = sum;
    }
    belief.between(i, i) += noise_variance(fitted_.values, setups[i]);
  }
  return belief;
}

}  // namespace stint
