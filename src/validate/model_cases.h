#pragma once

#include "load/predict_inputs.h"
#include "validate/validate_cases.h"

namespace stint {

/// Predicts a published case from its model alone, in its own metric; the note says what was
/// assumed, or why there is no prediction. `common` has catalogue and laws.
CaseOutcome predict_model_case(const PredictInputs& common, const PublishedCase& it);

/// The outcomes as a report: scores by metric and placement, of the ratio predicted over published.
CaseReport model_case_report(std::vector<CaseOutcome> outcomes);

}  // namespace stint
