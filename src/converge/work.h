#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"

namespace stint {

/// A metric at one moment of a run; moments are counted in steps or in samples.
struct MetricPoint {
  double moment = 0;
  double metric = 0;
};

/// The target of a metric.
struct Level {
  double value = 0;
  bool lower_is_better = false;
};

/// True when a metric of `metric` is as good as `level` or better.
bool reaches(double metric, const Level& level);

/// The first moment at which the best metric so far reaches `level`, on a straight line from the
/// best so far at the previous point. When the first point reaches it, that point's moment: nothing
/// is known before it, and it is the earliest at which training could have stopped. Nothing when no
/// point reaches it. Requires points in order of their moments.
std::optional<double> moment_of(std::span<const MetricPoint> run, const Level& level);

/// A global batch that the job may use, and its iterations to the goal.
struct BatchChoice {
  int global_batch = 1;
  double iterations = 1;  // Optimizer steps to the goal.
  double deviation = 0;   // Deviation of the logarithm of the iterations.
};

/// The work that is left, on any machines.
struct Work {
  std::vector<BatchChoice> choices;      // By batch; at least one.
  std::vector<std::string> assumptions;  // Sentences.
};

/// The iterations to the goal of `job`, for each global batch it may use.
///
/// Epochs and samples of a goal are those at the reference batch, and so is the progress of noise
/// records; a target is reached where the recorded metrics reach it (see moment_of), at the
/// geometric mean over the recorded batches that do. With noise records the batches are the range's
/// ends, the reference, and reference · 2^(k/2) between the ends, each with the iterations of
/// steps_to_progress; a range without an end ends at the recorded batches, and the ends of a wider
/// range than 32 times these are left out. Without noise records there is the reference alone.
/// Bad input: a job without a goal, without a reference batch, or with a goal that its figures do
/// not lead to or that is past 1e15 samples.
Result<Work> work_to_goal(const JobProfile& job);

/// The iterations at a global batch that may not be a choice: the same number of samples as at the
/// nearest choice, by ratio. Requires a choice and global_batch ≥ 1.
BatchChoice choice_near(const Work& work, int global_batch);

}  // namespace stint
