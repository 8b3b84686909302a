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

/// The growth of an iteration of one worker with its batch b, in T = c (b + b₀): ln of b₀ over the
/// smallest batch in use, over jobs.
struct ComputePrior {
  double floor = 0;
  double floor_deviation = 1;
  double time = 0;  // ln of the seconds of T at the smallest batch, for 100 MB of gradients.
  double time_deviation = 1;
};

/// From the rows with one worker, by least squares for each job; shrunk towards b₀ = half the
/// smallest batch, within a factor of e, and towards 0.15 s at that batch, within a factor of
/// three, with the weight of one job. That time grows as the power kTimeBySize of the gradients'
/// bytes, as it does over published jobs of 6 to 440 MB: a small batch hardly fills an accelerator,
/// which still reads all parameters.
inline constexpr double kTimeBySize = 1;
ComputePrior compute_prior(std::span<const StepRow> rows, const JobFacts& facts);

/// A setup whose iterations were timed.
struct TimedSetup {
  LawInput input;  // Its `alone` is not used, here and below.
  Seconds time;
};

/// The posterior of a job's iteration times on all setups, from the law of other jobs and a few
/// setups of its own. Its unknowns are the law's fabric constants with their posterior, the job's
/// own constants with the spread of jobs, and the two of its compute. They are fitted to the timed
/// setups by least squares on log time, each with the noise of single setups; the covariance of log
/// times is the fit's, plus each setup's own noise. A timed setup has its measured time.
class StepBelief {
 public:
  /// Requires a law that was not fitted to the job.
  StepBelief(const FittedLaw& law, const ComputePrior& compute, double batch_min, bool size_known);

  /// Adds one more timed setup.
  Status add(const TimedSetup& timed);

  /// ln seconds of an iteration on each setup; `timed` has the timed ones. Requires that one was.
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
  std::vector<std::vector<double>> root_;  // Root of the covariance of the fabric's constants.
  std::vector<TimedSetup> timed_;
  Fitted fitted_;
};

}  // namespace stint
