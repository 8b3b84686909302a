#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stint {

/// One epoch of a training run. Measured columns may be absent in a table to be predicted.
struct ConvergenceRow {
  std::string job;
  int batch = 1;  // Global.
  int epoch = 0;
  std::optional<double> progress;   // In steps at the job's initial batch.
  std::optional<double> iteration;  // Optimizer steps done.
  std::optional<double> metric;     // Metric of the validation set.
  // The variance of a gradient at the initial batch over its squared norm, so that times the
  // initial batch it is the noise scale. Absent when one of the two is missing or not above zero.
  std::optional<double> noise_ratio;
};

/// Whether a table must have the measured columns.
enum class Measured { kRequired, kOptional };

/// Reads the convergence table of Pollux (OSDI'21): columns model, batch_total, epoch, and the
/// measured progress_in_initial_batch_steps, iteration, metric, grad_sqr and grad_var. One row per
/// data row, in order; unreadable cells are bad input with line and column.
Result<std::vector<ConvergenceRow>> read_convergence_table(std::string_view text,
                                                           const std::string& source,
                                                           Measured measured);

}  // namespace stint
