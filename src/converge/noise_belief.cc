#include "converge/noise_belief.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "converge/steps.h"

namespace stint {
namespace {

// Distance over which a job's own shape decorrelates: a factor of 4.5.
constexpr double kWayMemory = 1.5;
constexpr double kWayFirst = 0.01;

double log_way(double way) { return std::log(way + kWayFirst); }

}  // namespace

double way_begin(std::size_t part) { return part == 0 ? 0 : kWayEnds[part - 1]; }

double way_middle(std::size_t part) { return (way_begin(part) + kWayEnds[part]) / 2; }

NoisePrior universal_noise_prior() {
  NoisePrior prior;
  for (std::size_t k = 0; k < kWayParts; ++k) {
    prior.mean[k] = std::log(150.0) + 0.7 * std::log(way_middle(k) + 0.007);
  }
  return prior;
}

NoiseBelief::NoiseBelief(const NoisePrior& prior, double reference_batch)
    : reference_(reference_batch) {
  CHECK(reference_batch > 0);
  const double level = prior.level_deviation * prior.level_deviation;
  const double shape = prior.shape_deviation * prior.shape_deviation;
  for (std::size_t i = 0; i < kWayParts; ++i) {
    mean_[i] = prior.mean[i];
    for (std::size_t k = 0; k < kWayParts; ++k) {
      const double apart = std::abs(log_way(way_middle(i)) - log_way(way_middle(k)));
      covariance_[i][k] = level + shape * std::exp(-apart / kWayMemory);
    }
  }
  mean_[kWayParts] = kNoisePower;
  covariance_[kWayParts][kWayParts] = kNoisePowerDeviation * kNoisePowerDeviation;
}

/// The weights of the unknowns in ln(Φ/B₀): y is interpolated between the middles of the adjacent
/// parts.
NoiseBelief::State NoiseBelief::weights_at(double way, double log_batch) {
  State weights{};
  std::size_t low = 0;
  while (low + 2 < kWayParts && way_middle(low + 1) < way) ++low;
  const double share = (log_way(way) - log_way(way_middle(low))) /
                       (log_way(way_middle(low + 1)) - log_way(way_middle(low)));
  weights[low + 1] = std::clamp(share, 0.0, 1.0);
  weights[low] = 1 - weights[low + 1];
  weights[kWayParts] = log_batch;
  return weights;
}

double NoiseBelief::scale(double way, double batch) const {
  const State weights = weights_at(way, std::log(batch / reference_));
  double log_scale = 0;
  for (std::size_t i = 0; i < kSize; ++i) log_scale += weights[i] * mean_[i];
  return reference_ * std::exp(log_scale);
}

void NoiseBelief::add(const WayNoise& record) {
  CHECK(record.scale > 0);
  const State seen = weights_at(record.way, std::log(record.batch / reference_));

  State image{};  // Covariance with the observation.
  double variance = kRecordDeviation * kRecordDeviation;
  double error = std::log(record.scale / reference_);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t k = 0; k < kSize; ++k) image[i] += covariance_[i][k] * seen[k];
    variance += seen[i] * image[i];
    error -= seen[i] * mean_[i];
  }
  for (std::size_t i = 0; i < kSize; ++i) {
    mean_[i] += image[i] / variance * error;
    for (std::size_t k = 0; k < kSize; ++k) {
      covariance_[i][k] -= image[i] * image[k] / variance;
    }
  }
}

double NoiseBelief::log_steps(const State& state, LearningRateRule rule, double way,
                              double batch) const {
  double sum = 0;
  for (std::size_t k = 0; k < kWayParts; ++k) {
    const double left = std::clamp(kWayEnds[k] - way, 0.0, kWayEnds[k] - way_begin(k));
    const double log_scale = state[k] + state[kWayParts] * std::log(batch / reference_);
    const double scale = reference_ * std::exp(std::clamp(log_scale, -30.0, 30.0));
    sum += left / step_gain(rule, scale, {.reference = reference_, .batch = batch});
  }
  return std::log(sum);
}

LogBelief NoiseBelief::steps_left(LearningRateRule rule, double way, double steps, double now,
                                  std::span<const double> batches) const {
  CHECK(way >= 0 && way < 1);
  constexpr double kDifference = 1e-3;
  LogBelief belief(std::vector<double>(batches.size()));
  std::vector<State> slopes(batches.size());
  for (std::size_t b = 0; b < batches.size(); ++b) {
    belief.mean[b] = std::log(steps) + log_steps(mean_, rule, way, batches[b]);
    for (std::size_t i = 0; i < kSize; ++i) {
      State moved = mean_;
      moved[i] += kDifference;
      const double above = log_steps(moved, rule, way, batches[b]);
      moved[i] -= 2 * kDifference;
      slopes[b][i] = (above - log_steps(moved, rule, way, batches[b])) / (2 * kDifference);
    }
  }
  for (std::size_t a = 0; a < batches.size(); ++a) {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      double sum = kPowerDeviation * kPowerDeviation * std::log(batches[a] / now) *
                   std::log(batches[b] / now);
      if (a == b && batches[a] != now) sum += kRunDeviation * kRunDeviation;
      for (std::size_t i = 0; i < kSize; ++i) {
        for (std::size_t k = 0; k < kSize; ++k) {
          sum += slopes[a][i] * covariance_[i][k] * slopes[b][k];
        }
      }
      belief.between(a, b) = sum;
    }
  }
  return belief;
}

}  // namespace stint
