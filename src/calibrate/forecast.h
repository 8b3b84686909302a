#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/law_fit.h"
#include "calibrate/step_rows.h"

namespace stint {

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
