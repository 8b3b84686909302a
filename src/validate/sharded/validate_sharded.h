#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/sharded/sharded_forecast.h"
#include "load/environment.h"
#include "measure/sharded/sharded_table.h"
#include "validate/validate_iteration.h"

namespace stint {

/// Tables of models that are split over workers, for training and test.
struct ShardedRequest {
  ShardedFormat format = ShardedFormat::kVtrain;
  std::vector<std::string> train;   // Files.
  std::vector<std::string> test;    // Files; or a split of the training rows.
  std::string split;                // See calibrate/sharded/sharded_split.h.
  std::vector<std::string> priors;  // "FORMAT=FILE": other tables that the constants begin with.
  bool bundled = false;             // The constants begin with the shipped calibration.
  std::string predictions;          // File for the predictions; empty: none.
  std::vector<ShardedBaseline> baselines;
  bool only_baselines = false;  // Omits our model.
};

/// One fit and its test. Pointers are into the cases of ShardedTrials.
struct ShardedTrial {
  CasePointers train;
  CasePointers test;
  std::vector<std::size_t> numbers;  // Of the test rows in their files.
};

/// The rows of a request and how they are split.
struct ShardedTrials {
  std::vector<ShardedCase> cases;
  std::vector<ShardedTrial> trials;
  ShardedPriors priors;
};

/// Reads and splits the tables. Also for `validate layout`.
Result<ShardedTrials> read_sharded_trials(const Environment& environment,
                                          const ShardedRequest& request);

/// Fits the training rows by the law of sharded steps, predicts the test rows, and scores the
/// predictions by job; accelerators are groups.
Result<ValidateAnswer> validate_sharded(const Environment& environment,
                                        const ShardedRequest& request);

}  // namespace stint
