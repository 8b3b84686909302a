#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/calibration.h"
#include "predict/law.h"
#include "solver/least_squares.h"

namespace stint {

/// The prior, see data/calibration/priors.json.
struct LawPriors {
  FabricLaw fabric;
  FabricLaw fabric_deviation;
  JobLaw job_deviation;    // Deviation of jobs from the population.
  double noise_floor = 0;  // Deviation of log time between two runs of a setup that computes only.
  double noise_exposed = 0;  // Deviation of its exposed communication.
};

/// The constants of a calibration as priors. Bad input when one is missing.
Result<LawPriors> law_priors(const Calibration& calibration);

/// A measured setup.
struct LawRow {
  std::string job;
  bool size_known = true;  // False: input.gradients is a guess.
  LawInput input;
  Seconds time;
  double scale = 1;  // The law's seconds over the table's, see step_rows.h.
};

/// The fitted law of one job.
struct JobFit {
  JobLaw law;
  std::size_t rows = 0;
  std::size_t first_unknown = 0;  // Index of its law in the solution.
  double noise = 1;               // Noise of the job relative to the population's.
  Bytes gradients;                // Gradient bytes of its first row.
};

/// A predicted time with the deviations of its logarithm.
struct LawEstimate {
  Seconds time;
  LogSpread spread;

  Seconds p10() const;
  Seconds p90() const;
};

/// The constants of a fabric fitted to rows of several jobs, and each job's own around them.
class FittedLaw {
 public:
  LawPriors priors;
  FabricLaw fabric;
  std::map<std::string, JobFit> jobs;
  Fitted solution;  // The fabric's constants first, in the order of law_names.
  double dispersion =
      1;  // LogSpread of unseen jobs around the population, relative to their prior.
  LogSpread unseen{.below = 1, .above = 1};  // Factors on the spread of jobs that were not fitted.

  /// The law of a job: its own, or the population's for one that was not fitted.
  JobLaw job_law(const std::string& job) const;

  /// The interval includes the posterior of the constants, the noise of single setups, and for a
  /// job that was not fitted the spread of jobs.
  LawEstimate predict(const std::string& job, bool size_known, const LawInput& input) const;

  /// The derivative of log time by each unknown of the solution; for a job that was not fitted, the
  /// last entries, one for each number of its law, are for the job's own.
  std::vector<double> slopes(const std::string& job, bool size_known, const LawInput& input) const;

  /// Variance of the log time of one setup about the law.
  double noise_variance(const std::string& job, const LawInput& input, Seconds time) const;
};

/// Fits by least squares on log time
///
///   Σ_rows w_j ρ(ln(T̂/T) / 0.06) + Σ ((θ − μ)/σ)² + Σ_jobs ρ'(u/σ_u)
///
/// Rows of one job share its errors, so that together they count as at most 32 (w_j). The priors of
/// jobs have heavy tails: most differ little, a few a lot. `start` is a law to start from, or null.
/// Requires a time above zero in every row.
Result<FittedLaw> fit_law(std::span<const LawRow> rows, const LawPriors& priors,
                          const FittedLaw* start = nullptr);

/// Sets `dispersion` and `unseen` by holding out jobs, in at most four groups. Dispersion is the
/// mean error of a held-out job relative to the expectation from the priors of job constants,
///
///   k² = max(1, (Σ_jobs bias² / v + 2) / (jobs + 2)),  v the mean variance of the job's rows
///
/// With it, each side of an interval is stretched or shrunk by the factor f that leaves one in ten
/// of the held-out rows beyond it, every job counting the same; of few jobs little is believed:
/// f^(jobs / (jobs + 1)), and f^(jobs / (jobs + 2)) for f < 1. Requires the rows that `law` was
/// fitted to.
Status measure_dispersion(FittedLaw& law, std::span<const LawRow> rows);

}  // namespace stint
