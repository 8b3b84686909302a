#pragma once

#include <optional>
#include <span>

namespace stint {

// How noisy a gradient is. With G the true gradient and σ² the variance of one sample's gradient,
// summed over parameters, a gradient over b samples has E‖g‖² = G² + σ²/b, and the noise scale is
// Φ = σ²/G², in samples: the batch at which noise and signal are as large as each other (McCandlish
// et al. 2018). With Adam these are figures of the preconditioned gradient.

/// The gradient of one worker, or of one micro-batch of accumulation, in one step.
struct WorkerGradient {
  double batch = 1;   // Samples it is over.
  double square = 0;  // ‖g_k‖².
};

/// σ̂² and Ĝ² of one step. Either may be below zero by chance; only their means count.
struct GradientMoments {
  double variance = 0;
  double square = 0;
};

/// Unbiased moments from the workers' gradients and ‖ḡ‖², where ḡ weighs each worker by its batch
/// and B is the sum of the batches:
///
///   σ̂² = (mean‖g_k‖² − ‖ḡ‖²) / (mean(1/b_k) − 1/B),  Ĝ² = ‖ḡ‖² − σ̂²/B
///
/// because E mean‖g_k‖² = G² + σ² mean(1/b_k) and E‖ḡ‖² = G² + σ²/B; for even batches the first is
/// B/(K − 1) · (mean‖g_k‖² − ‖ḡ‖²). Requires two workers or more and batches above zero.
GradientMoments gradient_moments(std::span<const WorkerGradient> workers, double mean_square);

/// The same from the gradients of some of the workers, or of the first of several micro-batches,
/// where ḡ is over `batch` samples in all. Requires one gradient or more, each over fewer samples.
GradientMoments gradient_moments(std::span<const WorkerGradient> some, double mean_square,
                                 double batch);

/// Φ of a run, smoothed.
struct NoiseScale {
  GradientMoments mean;
  std::optional<double> scale;  // Absent when the mean of Ĝ² is not above zero.
  double lower = 0;
  std::optional<double> upper;  // Absent: there is only a lower bound.
};

/// Sums the moments of many steps, so that Φ is a quotient of means: a mean of quotients is badly
/// biased.
class NoiseEstimator {
 public:
  void add(const GradientMoments& moments);

  /// Φ and its interval by Fieller's theorem: all Φ for which mean σ̂² − Φ mean Ĝ² is within
  /// `quantile` of its standard errors of zero, from the variances and the covariance of the two
  /// over steps, which are taken for independent. Where mean Ĝ² is itself within `quantile`
  /// standard errors of zero no Φ is too large. Requires two steps or more.
  NoiseScale estimate(double quantile) const;

 private:
  // Sums, and sums of squared deviations from the running means (Welford's method).
  double steps_ = 0;
  GradientMoments mean_;
  double variance_squared_ = 0;
  double square_squared_ = 0;
  double product_ = 0;
};

/// Scavenger's γ = mean‖g_k‖²/‖ḡ‖² of `workers` even workers: (B + KΦ)/(B + Φ).
double gradient_ratio(double noise_scale, double batch, double workers);

/// The Φ that γ tells: B (γ − 1)/(K − γ). Nothing unless 1 ≤ γ < K.
std::optional<double> noise_scale_of_ratio(double ratio, double batch, double workers);

}  // namespace stint
