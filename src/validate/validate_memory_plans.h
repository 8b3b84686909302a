#pragma once

#include <vector>

#include "base/result.h"
#include "calibrate/memory_fit.h"
#include "measure/tables/memory_table.h"
#include "validate/validate_memory_marks.h"
#include "validate/validation_report.h"

namespace stint {

/// Predicts the peak memory of plans in bytes; see validate_memory. A plan that does not match the
/// sizes of layers is not used for training, and its note gives the reason why it is not predicted.
Result<ValidationReport> validate_plans(std::vector<PlanMemory> train, std::vector<PlanMemory> test,
                                        const LayerTable& layers, const MemoryChoices& choices);

}  // namespace stint
