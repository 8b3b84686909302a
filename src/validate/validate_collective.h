#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "validate/validation_report.h"

namespace stint {

struct CollectiveRequest {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;     // "sizes", or empty when there are test files.
  std::string baseline;  // "alpha-beta", "bandwidth", or empty for ours.
};

/// Fits the times of all-reduces and predicts others: those of the test files, or with the split
/// "sizes" those of 1 MiB up to 64 MiB from the smaller and larger ones. Seconds; by cluster.
Result<ValidationReport> validate_collective(const CollectiveRequest& request);

}  // namespace stint
