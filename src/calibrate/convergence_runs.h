#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "converge/noise.h"
#include "converge/noise_belief.h"
#include "converge/work.h"
#include "measure/tables/convergence_table.h"

namespace stint {

/// The rows of one run: a job at a batch.
struct ConvergenceRun {
  std::string job;
  int batch = 1;
  std::vector<ConvergenceRow> epochs;  // In order.
  std::vector<std::size_t> rows;       // Their numbers among all rows.
};

/// The runs of a table. An epoch that is not later than the run's last one begins another run.
std::vector<ConvergenceRun> runs_of(std::span<const ConvergenceRow> rows);

/// Steps and metric of the epochs that have both.
std::vector<MetricPoint> metric_by_steps(const ConvergenceRun& run);

/// A training run and the point at which it reached the job's level.
struct ReachedRun {
  double batch = 1;
  double steps = 0;               // At that batch.
  double progress = 0;            // In samples at the job's initial batch.
  int epochs = 0;                 // Epochs that had ended before.
  std::vector<NoisePoint> noise;  // Progress in the same samples.
  /// Half of the difference of ln progress between a level that is better and one that is worse by
  /// the metric's jitter: where the curve is flat, equal runs reach the level far apart. The jitter
  /// is 1.4826 · median|m_i − (m_{i−1} + m_{i+1})/2| / √1.5 over the epochs from half of that
  /// progress on; a level that the run does not reach counts as reached at its end.
  double flatness = 0;
};

/// The data of the training runs of one job.
struct TrainedJob {
  double initial_batch = 1;  // Batch of its progress and of its noise.
  Level level;
  std::vector<ReachedRun> runs;  // At least one has noise.
  int rows_without_noise = 0;    // Rows that a noise curve cannot use.
};

/// The level is 0.98 of the worst of the best metrics that the runs reached, or that worst over
/// 0.98 where lower is better (the other way round below zero), which it is when the metric falls
/// from the first half of the runs to the second. The initial batch B₀ is the median over rows,
/// rounded, of
///
///   B ((v + 1)/r − 1)/v,  v = grad_var/grad_sqr,  r = progress per step since the epoch before,
///
/// which is AdaScale's r = (v + 1)/(v B₀/B + 1) solved for B₀: the table does not have it, and the
/// run at that batch may be missing. Jobs without any positive noise row are left out.
std::map<std::string, TrainedJob> trained_jobs(std::span<const ConvergenceRun> runs);

/// The growth of noise over the progress to the level, from the runs of other jobs. For each job
/// y(u) is the mean over its runs of ln(Φ/B₀) − kNoisePower ln(B/B₀), interpolated linearly between
/// records; the prior is the mean over jobs, shrunk towards universal_noise_prior as if that were
/// one job more, and so are the deviations of the jobs' levels and of their shapes.
NoisePrior noise_growth(const std::map<std::string, TrainedJob>& jobs);

}  // namespace stint
