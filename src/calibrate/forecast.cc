#include "calibrate/forecast.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace stint {
namespace {

/// A row with one worker says nothing about a cluster.
bool tells_of_cluster(const LawRow& row) { return row.input.workers > 1; }

/// What a batch far from those measured adds to the deviation of log time, for each doubling.
constexpr double kExtrapolationDeviation = 0.1;

Forecast forecast_row(const FittedTable& table, const StepRow& row, const JobFacts& facts) {
  const auto law_input = law_row(row, table.alone, facts);
  if (!law_input.ok()) return {.note = law_input.error().message};
  LawEstimate estimate = table.law.predict(row.job, law_input->size_known, law_input->input);
  const auto alone = table.alone.at(row);
  if (alone) {
    estimate.deviation =
        std::hypot(estimate.deviation, kExtrapolationDeviation * alone->doublings_beyond);
  }
  const double unit = 1 / (row.times_per_step * law_input->scale);
  Forecast forecast{
      .time = unit * estimate.time, .p10 = unit * estimate.p10(), .p90 = unit * estimate.p90()};
  if (alone && alone->extrapolated()) {
    forecast.note = "the batch is far from those measured on one worker";
  }
  return forecast;
}

}  // namespace

Result<FittedTable> fit_table(std::span<const StepRow> train, const FitContext& context,
                              bool unseen) {
  OneWorkerTimes alone(train);
  std::vector<LawRow> rows;
  for (const StepRow& row : train) {
    if (!row.time) continue;
    auto law_input = law_row(row, alone, context.facts);
    if (law_input.ok() && tells_of_cluster(*law_input)) rows.push_back(std::move(*law_input));
  }
  auto law = fit_law(rows, context.priors);
  if (!law.ok()) return law.error();
  if (unseen) {
    const Status measured = measure_dispersion(*law, rows);
    if (!measured.ok()) return measured.error();
  }
  return FittedTable{.law = std::move(*law), .alone = std::move(alone), .rows = std::move(rows)};
}

std::vector<Forecast> forecast(const FittedTable& table, std::span<const StepRow> test,
                               const JobFacts& facts) {
  std::vector<Forecast> forecasts;
  forecasts.reserve(test.size());
  for (const StepRow& row : test) forecasts.push_back(forecast_row(table, row, facts));
  return forecasts;
}

Result<std::vector<Forecast>> forecast(std::span<const StepRow> train,
                                       std::span<const StepRow> test, const FitContext& context) {
  const auto is_seen = [&](const StepRow& row) {
    return std::any_of(train.begin(), train.end(), [&](const StepRow& other) {
      return other.job == row.job && other.time && workers(other) > 1;
    });
  };
  const bool unseen = !std::all_of(test.begin(), test.end(), is_seen);
  const auto table = fit_table(train, context, unseen);
  if (!table.ok()) return table.error();
  return forecast(*table, test, context.facts);
}

}  // namespace stint
