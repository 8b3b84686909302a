#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/scaling/scaling_baselines.h"
#include "measure/tables/scaling_table.h"
#include "plan/calibration.h"
#include "validate/validate_iteration.h"

namespace stint {

/// Tables of benchmarks on clusters of several sizes, for training and test.
struct ScalingRequest {
  ScalingFormat format = ScalingFormat::kMlperf;
  std::vector<std::string> train;   // Files.
  std::vector<std::string> test;    // Files; or a split of the training rows.
  std::string split;                // See calibrate/scaling/scaling_split.h; empty: the test files.
  std::vector<std::string> priors;  // "FORMAT=FILE": rows that join training, if not held out.
  // Predicts clusters by the law of their network instead of by the law of benchmarks, from single
  // VMs alone; see calibrate/scaling/scaling_transfer.h.
  bool by_network = false;
  FabricFacts fabric;       // Of the network; its rate is for rows that do not state theirs.
  std::string calibration;  // Carried over to that network; empty: physics alone.
  std::string predictions;  // File for the predictions; empty: none.
  std::vector<ScalingBaseline> baselines;
  bool only_baselines = false;  // Omits our model.
};

/// Fits the training rows, predicts the steps of the test rows, and scores the predictions by
/// benchmark; language models and other benchmarks are groups.
Result<ValidateAnswer> validate_scaling(const ScalingRequest& request);

}  // namespace stint
