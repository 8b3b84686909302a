#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/codec_fields.h"
#include "calibrate/convergence_runs.h"
#include "converge/steps.h"

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

// Share of the law in what a run at another batch needs, beside the same number of samples at any
// batch, and its deviation: half way until runs at several batches tell. Runs of CIFAR-10 and
// ImageNet follow the law, NCF and BERT hardly need more samples (Pollux's runs).
inline constexpr double kLawShare = 0.5;
inline constexpr double kLawShareDeviation = 0.5;

/// The number of steps of each job to its level at any batch, fitted to runs at some. In logarithms
/// of samples, y = ln(S B) and z = ln(L B) with x = ln B,
///
///   y(B) = mean y + w (z(B) − mean z) + κ (x − mean x)
///
/// L is AdaScale's law (steps_to_progress) to the geometric mean of the progress at which the job's
/// runs reached the level, with the noise of all of them; Pollux trains by that rule. With w = 0
/// the samples are the same at any batch, with w = 1 they follow the law: w ~ N(kLawShare,
/// kLawShareDeviation²) lies between both until runs of other jobs (the mean) and of the job at
/// several batches tell, and so does κ ~ N(0, kPowerDeviation²), a power of B that the law lacks.
/// The spread s of runs around that has two levels: the population's s_p² = (4 kRunDeviation² + Σ
/// RSS of other jobs)/(4 + Σ (n − 1) of other jobs), and the job's s² = (3 s₀² + RSS)/(3 + n − 1),
/// where s₀ is the larger of s_p and of the root mean square of the runs' flatness. A new run's y
/// has the variance s² (1 + 1/n) + φᵀ V φ + (w · uncertainty of Φ)², φ = (z − mean z, x − mean x)
/// and V the posterior covariance of (w, κ); the interval is Student's with 3 + n − 1 degrees of
/// freedom.
class ConvergenceModel {
 public:
  explicit ConvergenceModel(const std::map<std::string, TrainedJob>& jobs);

  /// Nothing for a job without training runs.
  std::optional<StepsEstimate> estimate(const std::string& job, double batch) const;

 private:
  /// Sums of products of deviations from the means over the runs of a job.
  struct Sums {
    double zz = 0;
    double zx = 0;
    double xx = 0;
    double zy = 0;
    double xy = 0;
    double yy = 0;
  };

  /// The posterior of (w, κ).
  struct Shares {
    double law = 0;
    double power = 0;
    double law_variance = 0;
    double power_variance = 0;
    double covariance = 0;
  };

  struct Fit {
    NoiseCurve curve;
    double initial_batch = 1;
    double progress = 0;
    double runs = 0;  // n.
    double mean_x = 0;
    double mean_y = 0;
    double mean_z = 0;
    Sums sums = {};
    double residual = 0;           // RSS.
    double flatness = 0;           // Mean of the squares.
    double variance = 0;           // s².
    double law_share = kLawShare;  // Prior mean of w, from the other jobs.
  };

  static Fit fit(const TrainedJob& job);
  static StepsToGoal law_at(const Fit& fit, double batch);
  static Shares shares(const Sums& sums, double variance, double prior);
  /// The mean of w that the other jobs suggest for a job.
  double law_share_without(const std::string& job) const;

  std::map<std::string, Fit> fits_;
};

/// The quantile of Student's t distribution at which the normal one has `normal`, to within 1 % for
/// 9 in 10 and 3 degrees of freedom or more (Abramowitz and Stegun 26.7.5, two terms).
double student_quantile(double normal, double freedom);

}  // namespace stint
