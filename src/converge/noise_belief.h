#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/normal.h"
#include "converge/noise.h"
#include "job/job.h"

namespace stint {

/// The progress to the goal is divided into parts that end here: noise grows fastest at the start.
inline constexpr std::array<double, 12> kWayEnds = {0.01, 0.03, 0.1, 0.2, 0.3, 0.4,
                                                    0.5,  0.6,  0.7, 0.8, 0.9, 1};
inline constexpr std::size_t kWayParts = kWayEnds.size();

/// The start and the middle of a part; parts are counted from 0.
double way_begin(std::size_t part);
double way_middle(std::size_t part);

/// The prior of the gradient noise of jobs over their progress: y(u) = ln(Φ/B₀) at the middle of
/// each part, and its deviation between jobs.
struct NoisePrior {
  std::array<double, kWayParts> mean{};
  double level_deviation = 1.5;  // Common to the whole progress,
  double shape_deviation = 0.7;  // and from part to part.
};

/// The prior without data of other jobs: Φ is 150 u^0.7 times the usual batch of a job, which is
/// five times at the start.
NoisePrior universal_noise_prior();

/// A noise scale that was recorded during training.
struct WayNoise {
  double way = 0;    // Progress to the goal, as a share.
  double batch = 1;  // Global.
  double scale = 1;  // Φ, in samples; above zero.
};

/// The posterior of a job's noise over the rest of its training, and of the steps that are left.
///
///   ln(Φ(u, B)/B₀) = y(u) + c ln(B/B₀),  c ~ N(kNoisePower, kNoisePowerDeviation²)
///   cov(y(u), y(u')) = level² + shape² exp(−|w − w'|/kWayMemory),  w = ln(u + kWayFirst)
///
/// and a record deviates by kRecordDeviation. A job that is noisier than others early is therefore
/// expected to be noisier later, and growth of Φ is expected before it is observed.
class NoiseBelief {
 public:
  NoiseBelief(const NoisePrior& prior, double reference_batch);

  void add(const WayNoise& record);

  /// The median of Φ at a progress, for a batch. Requires 0 ≤ way ≤ 1.
  double scale(double way, double batch) const;

  /// Steps from `way` to the goal, by batch, where the whole training takes `steps` at the
  /// reference batch: S(B) = ∫ steps du / gain(Φ(u, B)) (see step_gain). In addition to the
  /// uncertainty of Φ, the power of B in real runs deviates from the law's by kPowerDeviation from
  /// the batch `now`, and single runs by kRunDeviation. Requires 0 ≤ way < 1.
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
