#pragma once

#include <span>
#include <vector>

namespace stint {

/// The noise scale that was recorded at one moment of a run.
struct NoisePoint {
  double batch = 1;     // Global batch of the run.
  double progress = 0;  // In samples at the reference batch.
  double scale = 1;     // Φ = σ²/G², in samples; above zero.
};

/// A noise scale and how well it is known.
struct NoiseAt {
  double scale = 1;
  double deviation = 0;  // Of its logarithm.
};

// At equal progress Φ grows with the batch, as a run with a larger learning rate has less gradient
// left: by 2.6 to 3.9 from 128 to 1024 on CIFAR-10 and by 9 from 200 to 3200 late on ImageNet
// (Pollux's runs), which are powers of 0.46 to 0.79, but hardly at all early on ImageNet.
inline constexpr double kNoisePower = 0.5;
inline constexpr double kNoisePowerDeviation = 0.3;
// How far a single record's ln Φ is off its curve: a factor of about 1.35.
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

}  // namespace stint
