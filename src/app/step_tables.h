#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/forecast.h"
#include "measure/step_formats.h"

namespace stint {

using Rows = std::vector<StepRow>;

/// The rows of all `files`, one after the other.
Result<Rows> read_step_tables(StepFormat format, const std::vector<std::string>& files);

/// What a fit needs: the job profiles of a file, or the shipped ones when it is empty, and the
/// shipped priors.
Result<FitContext> fit_context(const std::string& jobs_file);

/// Rows that their publisher warns of. They are neither learned from nor counted; what is predicted
/// for them is scored apart under this name. Empty for all others.
std::string kept_apart(StepFormat format, const StepRow& row);

/// Leaves out the rows of clusters that are kept apart.
void drop_kept_apart(StepFormat format, Rows& rows);

}  // namespace stint
