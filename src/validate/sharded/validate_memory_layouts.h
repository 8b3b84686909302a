#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "measure/tables/memory_layouts.h"
#include "validate/validation_report.h"

namespace stint {

struct MemoryLayoutsRequest {
  MemoryFormat format = MemoryFormat::kBloom;
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;                // One of memory_layout_splits().
  std::vector<std::string> priors;  // "FORMAT=FILE": rows of other tables to learn from.
  bool plain = false;               // Score the baseline instead of ours.
};

/// "leave-one-date-out" …, each with what of a row is left out.
std::vector<std::string> memory_layout_splits();

/// Fits the memory of sharded layouts (calibrate/sharded_memory_fit.h) to the training rows and the
/// priors, and predicts the peak of the fullest worker in the unit of the table. Scores are by what
/// is left out, else by model. The group "fits in memory" has the verdict: rows that state a peak
/// did run, so that it is right where the predicted peak is within the memory of the accelerator.
Result<ValidationReport> validate_memory_layouts(const Environment& environment,
                                                 const MemoryLayoutsRequest& request);

}  // namespace stint
