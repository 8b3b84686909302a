#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/forecast.h"
#include "measure/tables/step_formats.h"

namespace stint {

using Rows = std::vector<StepRow>;

/// What a table is read for: of one to predict, the measured columns are for scoring only.
enum class TableUse { kLearn, kPredict };

/// The rows of all `files`, one after the other. Times that no step can take are bad input where
/// they are learned from, and so are the unusable and unmeasured rows of Pollux's format; what is
/// wrong with a row to predict is left to the row.
Result<Rows> read_step_tables(StepFormat format, const std::vector<std::string>& files,
                              TableUse use);

/// What a fit needs: the job profiles of a file, or the shipped ones when it is empty, and the
/// shipped priors.
Result<FitContext> fit_context(const std::string& jobs_file);

/// Rows that their publisher warns of. They are neither learned from nor counted; what is predicted
/// for them is scored apart under this name. Empty for all others.
std::string kept_apart(StepFormat format, const StepRow& row);

/// Leaves out the rows of clusters that are kept apart.
void drop_kept_apart(StepFormat format, Rows& rows);

}  // namespace stint
