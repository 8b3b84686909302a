#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/normal.h"
#include "base/result.h"
#include "calibrate/forecast.h"
#include "calibrate/law_fit.h"
#include "measure/tables/step_table.h"

namespace stint {

/// How an iteration of one worker grows with its batch b, in T = c (b + b₀): ln of b₀ over the
/// smallest batch in use, over jobs.
struct ComputePrior {
  double floor = 0;
  double floor_deviation = 1;
  double time = 0;  // ln of the seconds of T at the smallest batch, for 100 MB of gradients.
  double time_deviation = 1;
};

/// From the rows with one worker, by least squares for each job; drawn to b₀ = half the smallest
/// batch, give or take a factor of e, and to 0.15 s at that batch, give or take a factor of three,
/// as if one job more had shown that. That time is taken to grow as the power kTimeBySize of the
/// gradients' bytes, as it does over published jobs of 6 to 440 MB: a small batch hardly fills an
/// accelerator, which reads all parameters all the same.
inline constexpr double kTimeBySize = 1;
ComputePrior compute_prior(std::span<const StepRow> rows, const JobFacts& facts);

/// A setup whose iterations were timed.
struct TimedSetup {
  LawInput input;  // Whose `alone` is not looked at, here and below.
  Seconds time;
};

/// What is believed of a job's iteration times on all setups, from the law of other jobs and a few
/// setups of its own. Its unknowns are the law's fabric constants with their posterior, the job's
/// own constants with the spread of jobs, and the two of its compute. They
/// are fitted to the timed setups by least squares on log time, each off by the noise of single
/// setups; the covariance of log times is the fit's, plus each setup's own noise. A setup that was
/// timed is as it was timed.
class StepBelief {
 public:
  /// Requires a law that was not fitted to the job.
  StepBelief(const FittedLaw& law, const ComputePrior& compute, double batch_min, bool size_known);

  /// Learns one more setup.
  Status add(const TimedSetup& timed);

  /// ln seconds of an iteration on each setup; `timed` has those that were timed. Requires that
  /// one was.
  LogBelief at(std::span<const LawInput> setups,
               std::span<const std::optional<Seconds>> timed) const;

 private:
  /// ln seconds for unknowns in deviations from their priors.
  double log_time(std::span<const double> unknowns, LawInput input) const;
  double noise_variance(std::span<const double> unknowns, LawInput input) const;
  Seconds alone(std::span<const double> unknowns, const LawInput& input) const;

  FittedLaw law_;
  ComputePrior compute_;
  double batch_min_;
  bool size_known_;
  std::vector<std::vector<double>> root_;  // Of the covariance of the fabric's constants.
  std::vector<TimedSetup> timed_;
  Fitted fitted_;
};

}  // namespace stint
