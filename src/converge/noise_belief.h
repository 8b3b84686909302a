#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/normal.h"
#include "converge/noise.h"
#include "job/job.h"

namespace stint {

/// The way to the goal is seen in parts that end here: noise grows fastest at the beginning.
inline constexpr std::array<double, 12> kWayEnds = {0.01, 0.03, 0.1, 0.2, 0.3, 0.4,
                                                    0.5,  0.6,  0.7, 0.8, 0.9, 1};
inline constexpr std::size_t kWayParts = kWayEnds.size();

/// Of a part, from 0.
double way_begin(std::size_t part);
double way_middle(std::size_t part);

/// How noisy gradients of jobs are along their way, before anything of a job is known:
/// y(u) = ln(Φ/B₀) at the middle of each part, and how far jobs lie from it.
struct NoisePrior {
  std::array<double, kWayParts> mean{};
  double level_deviation = 1.5;  // All along the way,
  double shape_deviation = 0.7;  // and beside that, from place to place.
};

/// Of a job of which nothing is known and without others to learn from: Φ is 150 u^0.7 times the
/// batch that a job is usually trained with, which is five times at the beginning.
NoisePrior universal_noise_prior();

/// A noise scale that was recorded on the way.
struct WayNoise {
  double way = 0;    // Share of the progress to the goal that was made.
  double batch = 1;  // Global.
  double scale = 1;  // Φ, in samples; above zero.
};

/// What records tell of a job's noise on the rest of its way, and of the steps that are left.
///
///   ln(Φ(u, B)/B₀) = y(u) + c ln(B/B₀),  c ~ N(kNoisePower, kNoisePowerDeviation²)
///   cov(y(u), y(u')) = level² + shape² exp(−|w − w'|/kWayMemory),  w = ln(u + kWayFirst)
///
/// and a record lies off by kRecordDeviation. So a job that is noisier than others early is
/// believed to be so later, and that Φ grows is believed before it has.
class NoiseBelief {
 public:
  NoiseBelief(const NoisePrior& prior, double reference_batch);

  void add(const WayNoise& record);

  /// Φ at a place of the way, for a batch: the middle of what is believed. Requires 0 ≤ way ≤ 1.
  double scale(double way, double batch) const;

  /// Steps from `way` to the goal, by batch, where the whole way is `steps` long at the reference
  /// batch: S(B) = ∫ steps du / gain(Φ(u, B)) (see step_gain). On top of what Φ leaves open, the
  /// power of B in real runs is off the law's by kPowerDeviation from the batch `now`, and single
  /// runs by kRunDeviation. Requires 0 ≤ way < 1.
  LogBelief steps_left(LearningRateRule rule, double way, double steps, double now,
                       std::span<const double> batches) const;

 private:
  static constexpr std::size_t kSize = kWayParts + 1;  // The last is c.
  using State = std::array<double, kSize>;

  static State weights_at(double way, double log_batch);
  double log_steps(const State& state, LearningRateRule rule, double way, double batch) const;

  double reference_;
  State mean_{};
  std::array<State, kSize> covariance_{};
};

}  // namespace stint
