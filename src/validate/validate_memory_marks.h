#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "load/environment.h"
#include "measure/tables/memory_table.h"
#include "validate/validation_report.h"

namespace stint {

/// Jobs on one device, and whether they fitted.
struct Mark {
  std::vector<SizedJob> jobs;
  std::string device;
  std::optional<bool> fits;  // Absent in rows that are to be predicted.
};

/// The memory of a device by the catalogue; of several of its name the smallest, since a table with
/// "V100" does not name the larger variant.
std::optional<Bytes> device_memory(const Catalog& catalog, const std::string& device);

/// The options of the validation of memory.
struct MemoryChoices {
  std::string split;   // Empty: the test rows are given.
  bool plain = false;  // Score the baseline instead of ours.
};

/// Predicts which jobs and pairs fit; see validate_memory. In predictions 1 fits and 0 does not.
Result<ValidationReport> validate_marks(const Environment& environment, std::vector<Mark> train,
                                        std::vector<Mark> test, const MemoryChoices& choices);

}  // namespace stint
