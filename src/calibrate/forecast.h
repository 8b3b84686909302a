#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/law_fit.h"
#include "calibrate/one_worker.h"
#include "job/job.h"
#include "measure/tables/step_table.h"

namespace stint {

/// Job profiles by name.
using JobFacts = std::map<std::string, JobProfile>;

/// Assumed gradient bytes of a job of unknown size; the fit may change them.
inline constexpr Bytes kAssumedGradients = 100 * kMB;

/// A table by printed unit ("tokens/s") does not define a step. Its times are meaningful only in
/// proportion, so that a step of one worker is assumed to last this long, and to use up samples at
/// the rate that contention is measured against.
inline constexpr Seconds kAssumedStep = 0.3 * kSecond;
inline constexpr double kAssumedBatch = 60;

/// A row of a published table in the form of the law; `time` is zero where the row has none. An
/// error gives the reason why nothing can be predicted for the row.
Result<LawRow> law_row(const StepRow& row, const OneWorkerTimes& alone, const JobFacts& facts);

/// The forecast of one row of a table, in the table's own unit (seconds per step, or per sample).
struct Forecast {
  std::optional<Seconds> time;
  std::optional<Seconds> p10;
  std::optional<Seconds> p90;
  std::string note;  // Reason why there is none, or its basis.
};

/// The inputs of every fit beside rows.
struct FitContext {
  JobFacts facts;
  LawPriors priors;
};

/// A law fitted to a table, with the data to apply it to rows.
struct FittedTable {
  FittedLaw law;
  OneWorkerTimes alone;
  std::vector<LawRow> rows;  // Fitted rows.
  // For each job, series and device without a measurement on one worker, the row with fewest.
  std::vector<StepRow> anchors;
};

/// Fits the rows of `train` that have a time. The spread of unseen jobs around the population is
/// measured only when `unseen` (it costs a fit for each job).
Result<FittedTable> fit_table(std::span<const StepRow> train, const FitContext& context,
                              bool unseen);

/// One forecast per row of `test`, in order. The measured columns of `test` are not used. Where one
/// worker was never measured, the time is that of the training row with fewest workers times the
/// law's ratio between that row and this one.
std::vector<Forecast> forecast(const FittedTable& table, std::span<const StepRow> test,
                               const JobFacts& facts);

/// Whether a time of `job` on several workers is known.
bool seen_on_cluster(std::span<const StepRow> train, const std::string& job);

/// fit_table and forecast.
Result<std::vector<Forecast>> forecast(std::span<const StepRow> train,
                                       std::span<const StepRow> test, const FitContext& context);

}  // namespace stint
