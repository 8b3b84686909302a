#pragma once

#include <map>
#include <string>

#include "calibrate/law_fit.h"
#include "calibrate/one_worker.h"
#include "job/job.h"
#include "measure/tables/step_table.h"

namespace stint {

/// Job profiles by name.
using JobFacts = std::map<std::string, JobProfile>;

/// Gradient bytes that a job of unknown size is assumed to have; the fit may move them.
inline constexpr Bytes kAssumedGradients = 100 * kMB;

/// A table by printed unit ("tokens/s") does not say what a step is. Its times mean something only
/// in proportion, so a step of one worker is taken to last this long, and to use up samples at the
/// rate that crowding is measured against.
inline constexpr Seconds kAssumedStep = 0.3 * kSecond;
inline constexpr double kAssumedBatch = 60;

/// A row of a published table as the law sees it; `time` is zero where the row has none. An error
/// says in a few words why nothing can be predicted for the row.
Result<LawRow> law_row(const StepRow& row, const OneWorkerTimes& alone, const JobFacts& facts);

}  // namespace stint
