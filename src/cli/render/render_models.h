#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "job/job.h"
#include "models/known_model.h"

namespace stint::cli {

/// A line for each model.
std::string model_table(const std::vector<KnownModel>& models, const Terminal& terminal);

/// The facts of one model.
std::string model_sheet(const KnownModel& model, const Terminal& terminal);

/// The same for programs: schema stint.models/1.
std::string models_json(const std::vector<KnownModel>& models);

/// The job that a model made: what is trained, memory, arithmetic, and what was assumed.
std::string job_sheet(const JobProfile& job, const Terminal& terminal);

}  // namespace stint::cli
