#pragma once

#include <optional>
#include <span>
#include <vector>

namespace stint {

/// The noise scale that was recorded at one moment of a run.
struct NoisePoint {
  double batch = 1;     // Global batch of the run.
  double progress = 0;  // In samples at the reference batch.
  double scale = 1;     // Φ = σ²/G², in samples; above zero.
};

/// A noise scale with its uncertainty.
struct NoiseAt {
  double scale = 1;
  double deviation = 0;  // Deviation of its logarithm.
};

// At equal progress Φ grows with the batch, because a run with a larger learning rate has a smaller
// gradient left: by 2.6 to 3.9 from 128 to 1024 on CIFAR-10 and by 9 from 200 to 3200 late on
// ImageNet (Pollux's runs), which are powers of 0.46 to 0.79, but hardly at all early on ImageNet.
inline constexpr double kNoisePower = 0.5;
inline constexpr double kNoisePowerDeviation = 0.3;
// Deviation of a single record's ln Φ from its curve: a factor of about 1.35.
inline constexpr double kRecordDeviation = 0.3;

/// Φ(progress, B) from records. At each progress p, with y_i = ln Φ_i(p) of the run at batch B_i
/// (linear between its records, constant beyond them) and x = ln B,
///
///   ln Φ(p, B) = mean y + c (x − mean x),
///   c = (Σ(x_i − mean x)(y_i − mean y)/s² + c₀/τ²) · v,  1/v = Σ(x_i − mean x)²/s² + 1/τ²,
///   deviation² = s²/n + (x − mean x)² v
///
/// with c₀ = kNoisePower, τ = kNoisePowerDeviation and s = kRecordDeviation. With one batch c = c₀;
/// away from the recorded batches the deviation grows.
class NoiseCurve {
 public:
  /// Requires one point or more.
  explicit NoiseCurve(std::span<const NoisePoint> points);

  NoiseAt at(double progress, double batch) const;

  double batch_min() const { return runs_.front().batch; }
  double batch_max() const { return runs_.back().batch; }

 private:
  struct Record {
    double progress = 0;
    double log_scale = 0;
  };
  struct Run {
    double batch = 1;
    double x = 0;                 // ln B − mean x.
    std::vector<Record> records;  // By progress.
  };

  static double log_scale(const std::vector<Record>& records, double progress);

  std::vector<Run> runs_;  // By batch; at least one.
  double mean_x_ = 0;
  double precision_ = 0;  // 1/v.
};

// The noise of a gradient. With G the true gradient and σ² the variance of one sample's gradient,
// summed over parameters, a gradient over b samples has E‖g‖² = G² + σ²/b, and the noise scale is Φ
// = σ²/G², in samples: the batch at which noise and signal are equal (McCandlish et al. 2018). With
// Adam these are figures of the preconditioned gradient.

/// The gradient of one worker, or of one micro-batch of accumulation, in one step.
struct WorkerGradient {
  double batch = 1;   // Number of samples.
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
/// where ḡ is over a total of `batch` samples. Requires one gradient or more, each over fewer
/// samples.
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
  /// over steps, which are assumed independent. Where mean Ĝ² is itself within `quantile` standard
  /// errors of zero the interval has no upper end. Requires two steps or more.
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

/// The Φ that corresponds to γ: B (γ − 1)/(K − γ). Nothing unless 1 ≤ γ < K.
std::optional<double> noise_scale_of_ratio(double ratio, double batch, double workers);

}  // namespace stint
