#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "measure/tables/case_table.h"
#include "models/known_model.h"

namespace stint {

/// The training of a published case, from the name of its model alone.
struct CaseTraining {
  JobProfile job;
  int batch = 1;         // Of one worker and micro-step.
  int accumulation = 1;  // Micro-steps.
  std::vector<std::string> assumed;
};

/// The known model that a case means: "ResNet-50 v1.5", "Llama 2 7B (Alpaca recipe)", "GPT 498M
/// (hidden 1536, 16 layers)". Bad input when none is meant.
Result<KnownModel> model_of_case(const PublishedCase& it);

/// Model, method, precision and batch of a case on `gpu`. Bad input says what keeps it from being
/// predicted: a model that is not known, weights that are quantised or kept on the host, a batch or
/// a length that is not stated.
Result<CaseTraining> training_of_case(const PublishedCase& it, const Gpu& gpu);

/// Whether a case leaves open if it computes in FP32 or in mixed precision: image models, which are
/// trained in both, on accelerators with tensor units. FP32 is what training_of_case takes.
bool precision_is_open(const PublishedCase& it, const Gpu& gpu);

}  // namespace stint
