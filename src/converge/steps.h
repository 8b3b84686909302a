#pragma once

#include "converge/noise.h"
#include "job/job.h"

namespace stint {

/// A job's own batch and an alternative, in samples.
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
/// A learning rate of λ times makes a step λ times as long, and r is the largest gain that the
/// noise allows (AdaScale, Johnson et al. 2020). Scavenger's e = e* + θγ for a fixed rate needs
/// runs at several batches; calibrate/convergence_models.h has it.
double step_gain(LearningRateRule rule, double noise_scale, const BatchChange& change);

/// λ of the rule: the factor on the learning rate of the reference batch.
double learning_rate_factor(LearningRateRule rule, double noise_scale, const BatchChange& change);

/// Optimizer steps, with the uncertainty of their number.
struct StepsToGoal {
  double steps = 1;
  double deviation = 0;        // Deviation of the logarithm.
  double deviation_noise = 0;  // The part of it that comes from Φ.

  double samples(double batch) const { return steps * batch; }
};

// Standard deviation of the power of B in measured steps from the law's: with ± 0.05 a batch ten
// times the reference takes about 12 % more or fewer steps than the law says. Near its target a run
// of CIFAR-10 deviated more, runs of ImageNet less (Pollux's runs).
inline constexpr double kPowerDeviation = 0.05;
// Deviation between runs that differ only by chance, as ± of the logarithm.
inline constexpr double kRunDeviation = 0.05;

/// Steps at a batch to a progress of `progress` samples at the reference batch:
///
///   S = ∫ dp / (B₀ gain(Φ(p, B)))
///
/// by the midpoint rule. Its variance is the sum of the squares of: half of the change of S when Φ
/// is one deviation lower or higher, over the whole run; kPowerDeviation · ln(B/B₀); and half of
/// the mean of ln(λ/r) where the learning rate is larger than the noise allows, because a run may
/// then do worse than at r. Requires progress above zero.
StepsToGoal steps_to_progress(const NoiseCurve& curve, LearningRateRule rule,
                              const BatchChange& change, double progress);

}  // namespace stint
