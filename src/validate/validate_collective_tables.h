#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "measure/tables/collective_tables.h"
#include "validate/validation_report.h"

namespace stint {

struct CollectiveTablesRequest {
  CollectiveFormat format = CollectiveFormat::kNccl;
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;                // One of collective_splits(), or empty with test files.
  std::vector<std::string> priors;  // "FORMAT=FILE": rows of other tables, which always train.
  std::string calibration;          // "bundled": the shipped constants; or a file; or empty.
  std::string baseline;             // One of collective_baselines(), or empty for ours.
};

/// "leave-one-gpu-out" and so on, and "sizes".
std::vector<std::string> collective_splits();

/// "line-rate", "alpha-beta" and "nearest-size".
std::vector<std::string> collective_baselines();

/// Fits the physical law of collectives to the training rows of a published format and predicts
/// others, in the unit of the table's measured column. Scores are by system, and by cluster and
/// collective. Shipped constants and a split exclude each other.
Result<ValidationReport> validate_collective_tables(const Environment& environment,
                                                    const CollectiveTablesRequest& request);

}  // namespace stint
