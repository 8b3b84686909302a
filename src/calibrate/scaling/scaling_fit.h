#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/forecast.h"
#include "calibrate/scaling/scaling_priors.h"
#include "measure/tables/scaling_table.h"
#include "predict/law.h"

namespace stint {

/// The law of scaling (predict/scaling_law.h) of every job of a table.
///
/// Constants are shared by level. The logarithm of the time per sample is
///
///   job + family of the device + device + owner on that device + edition of that owner
///
/// floor, exposed, crossing, growth and wire_growth belong to the job, and an owner on a device
/// deviates from exposed and crossing. Each level has a normal prior around the one above it, so
/// that what the rows of a series cannot tell is taken from other series of the job, and what these
/// cannot tell from the priors. How far a family is from others is learned over all jobs.
///
/// The width of the intervals of jobs without rows is learned by holding jobs out of the rows, see
/// calibrate/held_out_width.h.
class ScalingModel {
 public:
  /// Fits the usable rows that have a time; failures are the solver's.
  static Result<ScalingModel> fit(std::span<const ScalingRow> rows, const ScalingPriors& priors);

  /// The step of a row: the median with its 80 % interval, or a note. The time of the row is not
  /// used. A job without rows is predicted where the rows of others say what a parameter and a
  /// token cost.
  Forecast estimate(const ScalingRow& row) const;

 private:
  using Numbers = std::map<std::string, std::size_t>;

  struct Job {
    Numbers numbers;             // Of each level in `values`, by its name.
    std::vector<double> values;  // Means, and their covariance.
    std::vector<std::vector<double>> covariance;
    double reference = 0;      // Usual logarithm of the time per sample.
    double floor_samples = 1;  // Usual samples of a micro-step.
  };

  /// What the rows of all jobs tell together.
  struct Population {
    std::map<std::string, ScalingBelief> families;
    // Logarithm of the time per parameter and token of a job that is not among them: on the devices
    // of a family, and on those of none of them.
    bool sized = false;
    std::map<std::string, ScalingBelief> per_size;
    ScalingBelief per_size_elsewhere;
  };

  static Population population_of(std::span<const ScalingRow> rows, const ScalingPriors& priors);
  Result<Job> fit_job(std::span<const ScalingRow> rows) const;
  void learn_unseen(std::span<const ScalingRow> rows);
  Job unseen_job(const ScalingRow& row) const;

  /// A time and the deviation of its logarithm.
  struct Estimate {
    double log_time = 0;
    double deviation = 0;
  };

  Estimate estimate(const ScalingRow& row, const Job& job) const;

  ScalingPriors priors_;
  Population population_;
  std::map<std::string, Job> jobs_;
  LogSpread unseen_{.below = 1, .above = 1};  // Factors on the deviation of jobs without rows.
};

}  // namespace stint
