#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "measure/tables/memory_layouts.h"
#include "validate/validation_report.h"

namespace stint {

struct MemoryRequest {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;   // "leave-one-device-out", "leave-one-job-out", "leave-one-cluster-out".
  std::string layers;  // The file of layer sizes that plans need; empty for marks.
  bool plain = false;  // Score the baseline instead of ours.
  // Rows of sharded layouts instead (validate_memory_layouts.h), and rows of others to learn from.
  std::optional<MemoryFormat> format = {};
  std::vector<std::string> priors = {};
};

/// Fits what fits into memory and predicts it for other rows. The files' headers determine the
/// kind: Gavel's rates alone and packed pairs (does the job or the pair fit; split by device,
/// scored by device) or Sailor's plans (peak bytes of the fullest device; split by job or by
/// cluster, scored by job). The baselines: everything fits; and 16 bytes a parameter with 2 bytes
/// an activation. The memory of devices is the catalogue's. With a format, the files are tables of
/// sharded layouts.
Result<ValidationReport> validate_memory(const Environment& environment,
                                         const MemoryRequest& request);

}  // namespace stint
