#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tables/convergence_table.h"

namespace stint {

/// Epochs that a training at a batch took to a target metric.
struct EpochTargetRow {
  std::string workload;  // "cifar100 shufflenetv2 adadelta".
  int batch = 1;
  double target = 0;
  std::optional<double> epochs;  // Absent: to be predicted, or never reached.
  bool never_reached = false;
};

/// Reads the table of Zeus (NSDI'23): columns dataset, network, optimizer, batch, target_metric and
/// the measured epochs, which are "nan" where a training did not reach the target. One row per data
/// row, in order; unreadable cells are bad input with line and column.
Result<std::vector<EpochTargetRow>> read_epoch_targets(std::string_view text,
                                                       const std::string& source,
                                                       Measured measured);

}  // namespace stint
