#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/codec_fields.h"
#include "calibrate/convergence_runs.h"

namespace stint {

/// Baselines for the steps to a level, from the training runs of the job.
enum class StepsBaseline { kConstantSteps, kConstantSamples, kScavenger, kAdaScale };

std::span<const EnumName<StepsBaseline>> names_of(StepsBaseline type);

/// Steps at `batch`. The nearest run is the one whose batch is nearest in ratio.
///
///   constant steps    S of the nearest run
///   constant samples  S · B of the nearest run
///   Scavenger         samples = e* + θγ by least squares over the runs, γ = (B + KΦ)/(B + Φ) with
///                     K = 8 workers (the table does not say how many there were) and Φ the
///                     geometric mean of a run's records, at the new batch the nearest run's; one
///                     run gives constant samples
///   AdaScale          the sum of 1/r to the nearest run's progress, with the noise of that run
///                     as it is
///
/// Nothing where Scavenger's line falls to zero or below, and for the last two where a run has no
/// noise.
std::optional<double> baseline_steps(StepsBaseline baseline, const TrainedJob& job, double batch);

/// Steps to a job's level at a batch: the median and the ends of the 80 % interval.
struct StepsEstimate {
  double steps = 0;
  double p10 = 0;
  double p90 = 0;
};

/// The number of steps of each job to its level at any batch, fitted to runs at some:
///
///   ln S(B) = ln L(B) + m + κ (x − mean x),  x = ln B
///
/// L is AdaScale's law (steps_to_progress) to the geometric mean of the progress at which the job's
/// runs reached the level, with the noise of all of them; Pollux trains by that rule. m is the mean
/// of e_i = ln S_i − ln L(B_i), and κ ~ N(0, kPowerDeviation²) a power of B that the law lacks,
/// fitted to the e_i. Their spread s has two levels: the population's s_p² = (4 kRunDeviation² + Σ
/// RSS of other jobs)/(4 + Σ (n − 1) of other jobs), and the job's s² = (3 s₀² + RSS)/(3 + n − 1),
/// where RSS is around m and s₀ the larger of s_p and of the root mean square of the runs'
/// flatness. A new run's ln S has the variance s² (1 + 1/n) + (x − mean x)² var κ + (uncertainty of
/// Φ)², and the interval is Student's with 3 + n − 1 degrees of freedom.
class ConvergenceModel {
 public:
  explicit ConvergenceModel(const std::map<std::string, TrainedJob>& jobs);

  /// Nothing for a job without training runs.
  std::optional<StepsEstimate> estimate(const std::string& job, double batch) const;

 private:
  struct Fit {
    NoiseCurve curve;
    double initial_batch = 1;
    double progress = 0;
    double runs = 0;  // n.
    double mean_x = 0;
    double sum_xx = 0;    // Σ (x_i − mean x)².
    double sum_xe = 0;    // Σ (x_i − mean x)(e_i − m).
    double mean_e = 0;    // m.
    double residual = 0;  // RSS.
    double flatness = 0;  // Mean of the squares.
    double variance = 0;  // s².
  };

  static Fit fit(const TrainedJob& job);

  std::map<std::string, Fit> fits_;
};

/// The quantile of Student's t distribution at which the normal one has `normal`, to within 1 % for
/// 9 in 10 and 3 degrees of freedom or more (Abramowitz and Stegun 26.7.5, two terms).
double student_quantile(double normal, double freedom);

}  // namespace stint
