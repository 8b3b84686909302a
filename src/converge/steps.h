#pragma once

#include "converge/noise.h"
#include "job/job.h"

namespace stint {

/// A job's own batch and the one it would use instead, in samples.
struct BatchChange {
  double reference = 1;
  double batch = 1;
};

/// How many steps at the reference batch one step at another batch is worth, when Φ is the noise
/// scale, B₀ the reference and the rule multiplies the learning rate by λ:
///
///   gain = min(λ, r),  r = (Φ/B₀ + 1) / (Φ/B + 1)
///
///   fixed        λ = 1          as many steps at any B ≥ B₀, so that samples grow as B
///   square root  λ = √(B/B₀)
///   linear       λ = B/B₀       perfect scaling while B ≪ Φ, degraded as AdaScale's beyond
///   AdaScale     λ = r          S(B) ∝ 1 + Φ/B, samples ∝ 1 + B/Φ
///
/// A learning rate of λ times goes λ times as far, and r is the most that the noise lets a step be
/// worth (AdaScale, Johnson et al. 2020). Scavenger's e = e* + θγ for a fixed rate needs runs at
/// several batches; calibrate/convergence_baselines.h has it.
double step_gain(LearningRateRule rule, double noise_scale, const BatchChange& change);

/// λ of the rule: what the learning rate of the reference batch is multiplied by.
double learning_rate_factor(LearningRateRule rule, double noise_scale, const BatchChange& change);

/// Optimizer steps, and how well their number is known.
struct StepsToGoal {
  double steps = 1;
  double deviation = 0;        // Of the logarithm.
  double deviation_noise = 0;  // The part of it that is due to Φ.

  double samples(double batch) const { return steps * batch; }
};

// How far the power of B in measured steps is off the law's, as a standard deviation: with ± 0.05 a
// batch ten times the reference takes about 12 % more or fewer steps than the law says. Near its
// target a run of CIFAR-10 was off by more, runs of ImageNet by less (Pollux's runs).
inline constexpr double kPowerDeviation = 0.05;
// How far runs that differ in nothing but chance reach a level apart, as ± of the logarithm.
inline constexpr double kRunDeviation = 0.05;

/// Steps at a batch to a progress of `progress` samples at the reference batch:
///
///   S = ∫ dp / (B₀ gain(Φ(p, B)))
///
/// by the midpoint rule. Its variance is the sum of the squares of: half of what S changes when Φ
/// is one deviation lower or higher, all along the run; kPowerDeviation · ln(B/B₀); and half of the
/// mean of ln(λ/r) where the learning rate is larger than the noise allows, for then a run may be
/// worse off than at r. Requires progress above zero.
StepsToGoal steps_to_progress(const NoiseCurve& curve, LearningRateRule rule,
                              const BatchChange& change, double progress);

}  // namespace stint
