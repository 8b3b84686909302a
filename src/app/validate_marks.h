#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/validation_report.h"
#include "base/result.h"
#include "measure/memory_table.h"

namespace stint {

/// Jobs on one device, and whether they fitted.
struct Mark {
  std::vector<SizedJob> jobs;
  std::string device;
  std::optional<bool> fits;  // Absent in rows that are to be predicted.
};

/// How memory is validated.
struct MemoryChoices {
  std::string split;   // Empty: the test rows are given.
  bool plain = false;  // Score the baseline instead of ours.
};

/// Predicts which jobs and pairs fit; see validate_memory. In predictions 1 fits and 0 does not.
Result<ValidationReport> validate_marks(const Environment& environment, std::vector<Mark> train,
                                        std::vector<Mark> test, const MemoryChoices& choices);

}  // namespace stint
