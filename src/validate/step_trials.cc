#include "validate/step_trials.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "calibrate/split.h"
#include "catalog/lookup.h"
#include "load/catalog_cases.h"

namespace stint {
namespace {

StepTrial trial_of(const Fold& fold, const Rows& rows) {
  StepTrial trial;
  for (const std::size_t i : fold.train) trial.train.push_back(rows[i]);
  for (const std::size_t i : fold.test) trial.test.push_back(rows[i]);
  trial.numbers = fold.test;
  return trial;
}

/// The contents of a table, for an error message.
std::string extent(const Rows& rows) {
  int most = 0;
  std::set<std::string> devices;
  for (const StepRow& row : rows) {
    if (!row.unusable.empty()) continue;
    most = std::max(most, workers(row));
    if (!row.device.empty()) devices.insert(row.device);
  }
  return fmt::format("it has up to {}{}", counted(static_cast<std::size_t>(most), "GPU"),
                     devices.empty() ? "" : " of " + join({devices.begin(), devices.end()}, ", "));
}

/// The same rows with their time per step, the unit of the baselines.
Rows in_steps(Rows rows) {
  for (StepRow& row : rows) {
    if (row.time) row.time = row.times_per_step * *row.time;
  }
  return rows;
}

}  // namespace

DollarsPerSecond published_vm_price() {
  const auto catalog = load_catalog(Environment{});
  CHECK(catalog.ok());
  const auto type = find_type(catalog->noun, {.name = "g4dn.12xlarge"});
  CHECK(type.ok());
  std::optional<DollarsPerSecond> lowest;
  for (const Offer& offer : (*type)->offers) {
    const auto price = lowest_price(offer, {Market::kOnDemand});
    if (price && (!lowest || *price < *lowest)) lowest = price;
  }
  CHECK(lowest.has_value());
  return *lowest;
}

Result<std::vector<StepTrial>> read_step_trials(const StepFiles& files) {
  auto train = read_step_tables(files.format, files.train, TableUse::kLearn);
  if (!train.ok()) return train.error();
  std::vector<StepTrial> trials;
  if (files.split.empty()) {
    auto test = read_step_tables(files.format, files.test, TableUse::kPredict);
    if (!test.ok()) return test.error();
    StepTrial trial{.train = std::move(*train), .test = std::move(*test)};
    for (std::size_t i = 0; i < trial.test.size(); ++i) trial.numbers.push_back(i);
    trials.push_back(std::move(trial));
    return trials;
  }
  const auto split = parse_split(files.split);
  if (!split.ok()) return split.error();
  const TestRows scored =
      files.format == StepFormat::kPollux ? TestRows::kSeveralVms : TestRows::kSeveralWorkers;
  for (const Fold& fold : folds(*split, *train, scored)) trials.push_back(trial_of(fold, *train));
  if (trials.empty()) {
    return bad_input(fmt::format("no row of {} is left to test by --split {}; {}",
                                 join(files.train, ", "), to_text(*split), extent(*train)));
  }
  return trials;
}

std::vector<Forecast> forecast_baseline(BaselineKind kind, const StepTrial& trial) {
  const auto model = fit_baseline(kind, in_steps(trial.train));
  std::vector<Forecast> forecasts;
  for (const StepRow& row : trial.test) {
    Forecast& forecast = forecasts.emplace_back();
    if (!row.unusable.empty()) {
      forecast.note = row.unusable;
      continue;
    }
    forecast.time = model->predict(row);
    if (forecast.time) forecast.time = *forecast.time / row.times_per_step;
    if (!forecast.time) forecast.note = fmt::format("there is no training data for {}", row.job);
  }
  return forecasts;
}

}  // namespace stint
