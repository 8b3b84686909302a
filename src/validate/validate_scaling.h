#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/scaling/scaling_baselines.h"
#include "measure/tables/scaling_table.h"
#include "validate/validate_iteration.h"

namespace stint {

/// Tables of benchmarks on clusters of several sizes, for training and test.
struct ScalingRequest {
  ScalingFormat format = ScalingFormat::kMlperf;
  std::vector<std::string> train;  // Files.
  std::vector<std::string> test;   // Files; or a split of the training rows.
  std::string split;               // See calibrate/scaling/scaling_split.h; empty: the test files.
  std::string predictions;         // File for the predictions; empty: none.
  std::vector<ScalingBaseline> baselines;
  bool only_baselines = false;  // Omits our model.
};

/// Fits the training rows, predicts the steps of the test rows, and scores the predictions by
/// benchmark; language models and other benchmarks are groups.
Result<ValidateAnswer> validate_scaling(const ScalingRequest& request);

}  // namespace stint
