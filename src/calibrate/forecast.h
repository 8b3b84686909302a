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

/// What is said of one row of a table, in the table's own unit (seconds per step, or per sample).
struct Forecast {
  std::optional<Seconds> time;
  std::optional<Seconds> p10;
  std::optional<Seconds> p90;
  std::string note;  // Why there is none, or what it rests on.
};

/// What every fit needs besides rows.
struct FitContext {
  JobFacts facts;
  LawPriors priors;
};

/// A law fitted to a table, with what it needs to be applied to rows.
struct FittedTable {
  FittedLaw law;
  OneWorkerTimes alone;
  std::vector<LawRow> rows;  // That were fitted.
  // Of each job, series and device that was never measured on one worker, the row with fewest.
  std::vector<StepRow> anchors;
};

/// Fits the rows of `train` that have a time. How far unseen jobs lie from the population is
/// measured only when `unseen` (it costs a fit for each job).
Result<FittedTable> fit_table(std::span<const StepRow> train, const FitContext& context,
                              bool unseen);

/// One forecast per row of `test`, in order. The measured columns of `test` are not looked at.
/// Where one worker was never measured, the time is that of the training row with fewest workers
/// times what the law makes of going from there to the row.
std::vector<Forecast> forecast(const FittedTable& table, std::span<const StepRow> test,
                               const JobFacts& facts);

/// Whether a time of `job` on several workers is known.
bool seen_on_cluster(std::span<const StepRow> train, const std::string& job);

/// fit_table and forecast.
Result<std::vector<Forecast>> forecast(std::span<const StepRow> train,
                                       std::span<const StepRow> test, const FitContext& context);

}  // namespace stint
