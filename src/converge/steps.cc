#include "converge/steps.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

// Enough that the first epoch of a hundred has ten.
constexpr int kPieces = 1000;

double noise_limit(double noise_scale, const BatchChange& change) {
  // Both forms are equal; each avoids the overflow of the other.
  if (noise_scale > 1) {
    return (1 / change.reference + 1 / noise_scale) / (1 / change.batch + 1 / noise_scale);
  }
  return (noise_scale / change.reference + 1) / (noise_scale / change.batch + 1);
}

double factor_of(LearningRateRule rule, double limit, const BatchChange& change) {
  const double ratio = change.batch / change.reference;
  switch (rule) {
    case LearningRateRule::kFixed:
      return 1;
    case LearningRateRule::kLinear:
      return ratio;
    case LearningRateRule::kSquareRoot:
      return std::sqrt(ratio);
    case LearningRateRule::kAdaScale:
      return limit;
  }
  CHECK(false);
  return 1;
}

}  // namespace

double step_gain(LearningRateRule rule, double noise_scale, const BatchChange& change) {
  CHECK(noise_scale >= 0);
  CHECK(change.reference > 0);
  CHECK(change.batch > 0);
  const double limit = noise_limit(noise_scale, change);
  return std::min(factor_of(rule, limit, change), limit);
}

double learning_rate_factor(LearningRateRule rule, double noise_scale, const BatchChange& change) {
  CHECK(noise_scale >= 0);
  CHECK(change.reference > 0);
  CHECK(change.batch > 0);
  return factor_of(rule, noise_limit(noise_scale, change), change);
}

StepsToGoal steps_to_progress(const NoiseCurve& curve, LearningRateRule rule,
                              const BatchChange& change, double progress) {
  CHECK(progress > 0);
  const double piece = progress / kPieces / change.reference;
  double steps = 0;
  double steps_low = 0;
  double steps_high = 0;
  double excess = 0;
  for (int i = 0; i < kPieces; ++i) {
    const NoiseAt noise = curve.at((i + 0.5) * progress / kPieces, change.batch);
    const double factor = std::exp(noise.deviation);
    steps += piece / step_gain(rule, noise.scale, change);
    steps_low += piece / step_gain(rule, noise.scale / factor, change);
    steps_high += piece / step_gain(rule, noise.scale * factor, change);
    const double limit = noise_limit(noise.scale, change);
    excess += std::max(std::log(factor_of(rule, limit, change) / limit), 0.0) / kPieces;
  }
  const double by_noise = std::log(steps_low / steps_high) / 2;
  const double by_power = kPowerDeviation * std::log(change.batch / change.reference);
  return {.steps = steps,
          .deviation = std::hypot(by_noise, by_power, excess / 2),
          .deviation_noise = std::fabs(by_noise)};
}

}  // namespace stint
