#include "calibrate/forecast.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "predict/law.h"

namespace stint {
namespace {

/// A row with one worker has no information about a cluster.
bool tells_of_cluster(const LawRow& row) { return row.input.workers > 1; }

/// Added deviation of log time for each doubling of the distance to the measured batches.
constexpr double kExtrapolationDeviation = 0.1;

/// A network whose rate is unknown is no faster than this (p5.48xlarge).
constexpr BytesPerSecond kFastestNetwork = 3200 * kGbit / kSecond;

bool same_series(const StepRow& a, const StepRow& b) {
  return a.job == b.job && a.series == b.series && a.device == b.device;
}

Forecast in_unit_of(const StepRow& row, double scale, const LawEstimate& estimate) {
  const double unit = 1 / (row.times_per_step * scale);
  return {.time = unit * estimate.time, .p10 = unit * estimate.p10(), .p90 = unit * estimate.p90()};
}

/// From the row with fewest workers, used in place of one worker and corrected by the law.
std::optional<Forecast> forecast_from_anchor(const FittedTable& table, const StepRow& row,
                                             const JobFacts& facts) {
  const auto anchor = std::find_if(table.anchors.begin(), table.anchors.end(),
                                   [&](const StepRow& it) { return same_series(it, row); });
  if (anchor == table.anchors.end()) return std::nullopt;
  StepRow as_one = *anchor;
  as_one.workers_by_vm = {1};
  const OneWorkerTimes alone(std::span(&as_one, 1));
  const auto from = law_row(*anchor, alone, facts);
  const auto to = law_row(row, alone, facts);
  if (!from.ok() || !to.ok()) return std::nullopt;
  const Seconds law_there = law_time(table.law.fabric, table.law.job_law(row.job), from->input);
  LawEstimate estimate = table.law.predict(row.job, to->size_known, to->input);
  estimate.time = (from->input.alone / law_there) * estimate.time;
  estimate.spread =
      estimate.spread.with(std::sqrt(table.law.noise_variance(row.job, from->input, law_there)));
  Forecast forecast = in_unit_of(row, to->scale, estimate);
  forecast.note = fmt::format("from {} workers, as one was not measured alone", workers(*anchor));
  return forecast;
}

Forecast forecast_row(const FittedTable& table, const StepRow& row, const JobFacts& facts) {
  const auto law_input = law_row(row, table.alone, facts);
  if (!law_input.ok()) {
    if (row.unusable.empty()) {
      if (const auto anchored = forecast_from_anchor(table, row, facts)) return *anchored;
    }
    return {.note = law_input.error().message};
  }
  LawEstimate estimate = table.law.predict(row.job, law_input->size_known, law_input->input);
  const auto alone = table.alone.at(row);
  CHECK(alone.has_value());
  estimate.spread = estimate.spread.with(kExtrapolationDeviation * alone->doublings_beyond);
  Forecast forecast = in_unit_of(row, law_input->scale, estimate);
  if (alone->extrapolated()) {
    forecast.note = "the batch is far from those measured on one worker";
  }
  return forecast;
}

std::vector<StepRow> anchors_of(std::span<const StepRow> train, const OneWorkerTimes& alone) {
  std::vector<StepRow> anchors;
  for (const StepRow& row : train) {
    if (!row.time || !row.unusable.empty() || alone.at(row)) continue;
    const auto found = std::find_if(anchors.begin(), anchors.end(),
                                    [&](const StepRow& it) { return same_series(it, row); });
    if (found == anchors.end()) {
      anchors.push_back(row);
    } else if (workers(row) < workers(*found)) {
      *found = row;
    }
  }
  return anchors;
}

}  // namespace

Result<LawRow> law_row(const StepRow& row, const OneWorkerTimes& alone, const JobFacts& facts) {
  if (!row.unusable.empty()) return bad_input(row.unusable);
  const auto estimate = alone.at(row);
  if (!estimate) {
    return bad_input(fmt::format("{} was not measured on one worker{}{}", row.job,
                                 row.device.empty() ? "" : " of ", row.device));
  }
  LawRow law{.job = row.job,
             .size_known = false,
             .input = {.alone = estimate->time,
                       .jitter = estimate->jitter,
                       .batch_per_worker = row.batch_per_worker,
                       .gradients = kAssumedGradients,
                       .vms = static_cast<int>(row.workers_by_vm.size()),
                       .workers = workers(row),
                       .workers_on_fullest_vm = workers_on_fullest_vm(row),
                       .servers = row.servers,
                       .asynchronous = row.asynchronous,
                       .network = row.network,
                       .reference = row.reference.value_or(kFastestNetwork)},
             .time = row.times_per_step * row.time.value_or(Seconds{})};
  const auto known = facts.find(row.job);
  std::optional<Bytes> gradients = row.gradient_bytes;
  if (!gradients) gradients = alone.gradient_bytes(row.job);
  if (!gradients && known != facts.end()) gradients = known->second.gradient_bytes;
  if (gradients) law.input.gradients = *gradients;
  law.size_known = gradients.has_value();
  if (row.times_per_step != 1 && !law.size_known) {
    law.scale = kAssumedStep / law.input.alone;
    law.input.alone = kAssumedStep;
    law.input.batch_per_worker = kAssumedBatch;
    law.time = law.scale * law.time;
  }
  return law;
}

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
  std::vector<StepRow> anchors = anchors_of(train, alone);
  return FittedTable{.law = std::move(*law),
                     .alone = std::move(alone),
                     .rows = std::move(rows),
                     .anchors = std::move(anchors)};
}

std::vector<Forecast> forecast(const FittedTable& table, std::span<const StepRow> test,
                               const JobFacts& facts) {
  std::vector<Forecast> forecasts;
  forecasts.reserve(test.size());
  for (const StepRow& row : test) forecasts.push_back(forecast_row(table, row, facts));
  return forecasts;
}

bool seen_on_cluster(std::span<const StepRow> train, const std::string& job) {
  return std::any_of(train.begin(), train.end(), [&](const StepRow& row) {
    return row.job == job && row.time && workers(row) > 1;
  });
}

Result<std::vector<Forecast>> forecast(std::span<const StepRow> train,
                                       std::span<const StepRow> test, const FitContext& context) {
  const auto is_seen = [&](const StepRow& row) { return seen_on_cluster(train, row.job); };
  const bool unseen = !std::all_of(test.begin(), test.end(), is_seen);
  const auto table = fit_table(train, context, unseen);
  if (!table.ok()) return table.error();
  return forecast(*table, test, context.facts);
}

}  // namespace stint
