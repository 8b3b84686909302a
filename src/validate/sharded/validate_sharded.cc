#include "validate/sharded/validate_sharded.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/score.h"
#include "calibrate/sharded/sharded_split.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"
#include "load/sharded_tables.h"
#include "validate/validation_report.h"

namespace stint {
namespace {

/// A test row and its prediction.
struct ShardedOutcome {
  std::size_t number = 0;
  const ShardedCase* it = nullptr;
  Forecast forecast;
};

using ShardedOutcomes = std::vector<ShardedOutcome>;

/// Whether the row has a measurement, usable or not.
bool has_measurement(const ShardedOutcome& outcome) {
  return outcome.it->row.time || !outcome.it->row.unmeasured.empty();
}

Result<ShardedPriors> priors_of(const ShardedRequest& request, const Catalog& catalog) {
  if (request.bundled) {
    if (!request.split.empty()) {
      return bad_usage(
          "--calibration bundled and --split exclude each other: the shipped calibration was "
          "fitted to the rows that a split holds out");
    }
    const auto shipped = load_calibration("sharded");
    if (!shipped.ok()) return shipped.error();
    return calibrated_priors(shipped->noun);
  }
  const auto cases = read_sharded_words("--prior", request.priors, catalog);
  if (!cases.ok()) return cases.error();
  return learned_priors(*cases);
}

Status append_folds(const ShardedRequest& request, ShardedTrials& trials) {
  const auto split = parse_sharded_split(request.split);
  if (!split.ok()) return split.error();
  for (const Fold& fold : folds(*split, trials.cases)) {
    ShardedTrial& trial = trials.trials.emplace_back();
    for (const std::size_t i : fold.train) trial.train.push_back(&trials.cases[i]);
    for (const std::size_t i : fold.test) {
      trial.test.push_back(&trials.cases[i]);
      trial.numbers.push_back(i);
    }
  }
  if (!trials.trials.empty()) return {};
  return bad_input(fmt::format("no row of {} is left to learn from, or to test, by --split {}",
                               join(request.train, ", "), request.split));
}

Validation sharded_validation(const ShardedRequest& request, const ShardedOutcomes& outcomes) {
  std::vector<Scored> scored;
  std::map<std::string, std::vector<Scored>> groups;
  for (const ShardedOutcome& outcome : outcomes) {
    const ShardedRow& row = outcome.it->row;
    if (!has_measurement(outcome) || !row.unusable.empty()) continue;
    scored.push_back({.job = row.job,
                      .predicted = outcome.forecast.time,
                      .measured = row.time,
                      .p10 = outcome.forecast.p10,
                      .p90 = outcome.forecast.p90});
    groups[row.gpu].push_back(scored.back());
  }
  Validation validation{
      .what = "iteration", .overall = score(scored), .jobs = score_by_job(scored)};
  validation.mean_over_jobs = mean_over(validation.jobs);
  if (groups.size() > 1) {
    for (const auto& [name, rows] : groups) validation.groups[name] = score(rows);
  }
  if (!request.split.empty()) validation.split = request.split;
  return validation;
}

/// The number of rows without a score and the most frequent reason; empty when there is none.
std::string skipped_sentence(const ShardedOutcomes& outcomes) {
  std::map<std::string, std::size_t> reasons;
  std::size_t count = 0;
  for (const ShardedOutcome& it : outcomes) {
    if (!has_measurement(it) || (it.forecast.time && it.it->row.time)) continue;
    ++count;
    ++reasons[it.forecast.time ? it.it->row.unmeasured : it.forecast.note];
  }
  if (count == 0) return "";
  const auto most =
      std::max_element(reasons.begin(), reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} {} skipped: {} ({}).", counted(count, "row"), count == 1 ? "was" : "were",
                     most->first, most->second);
}

Status write_sharded_predictions(const std::string& path, const ShardedOutcomes& outcomes) {
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->in(kSecond)) : std::nullopt;
  };
  std::vector<PredictionLine> lines;
  for (const ShardedOutcome& it : outcomes) {
    lines.push_back({.row = it.number,
                     .predicted = seconds(it.forecast.time),
                     .p10 = seconds(it.forecast.p10),
                     .p90 = seconds(it.forecast.p90),
                     .note = it.forecast.note});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const PredictionLine& a, const PredictionLine& b) { return a.row < b.row; });
  return write_output(path, predictions_csv(lines));
}

Result<ShardedOutcomes> predicted_outcomes(const ShardedTrials& trials) {
  ShardedOutcomes outcomes;
  for (const ShardedTrial& trial : trials.trials) {
    const auto model = ShardedForecaster::fit(trial.train, trial.test, trials.priors);
    if (!model.ok()) return model.error();
    for (std::size_t i = 0; i < trial.test.size(); ++i) {
      outcomes.push_back({trial.numbers[i], trial.test[i], model->forecast(*trial.test[i])});
    }
  }
  return outcomes;
}

Result<ShardedOutcomes> compared_outcomes(const ShardedTrials& trials, ShardedBaseline baseline) {
  ShardedOutcomes outcomes;
  for (const ShardedTrial& trial : trials.trials) {
    const auto found = sharded_baseline(baseline, trial.train, trial.test, trials.priors);
    if (!found.ok()) return found.error();
    for (std::size_t i = 0; i < trial.test.size(); ++i) {
      outcomes.push_back({trial.numbers[i], trial.test[i], (*found)[i]});
    }
  }
  return outcomes;
}

std::vector<std::string> sharded_notes(const ShardedOutcomes& outcomes,
                                       const Validation& validation) {
  if (outcomes.empty()) return {"the test files have no rows"};
  if (validation.overall.n == 0 && validation.overall.skipped == 0) {
    return {"the test rows have no measured times, so there is no score"};
  }
  return {};
}

}  // namespace

Result<ShardedTrials> read_sharded_trials(const Environment& environment,
                                          const ShardedRequest& request) {
  // Other tables alone may predict a table: what somebody without a measurement of their own gets.
  const bool unseen = request.train.empty() && (request.bundled || !request.priors.empty());
  const Status files =
      check_validation_files(unseen ? request.test : request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  ShardedTrials trials;
  auto train = read_sharded_cases(request.format, request.train, catalog->noun);
  if (!train.ok()) return train.error();
  auto test = read_sharded_cases(request.format, request.test, catalog->noun);
  if (!test.ok()) return test.error();
  if (!unseen && std::none_of(train->begin(), train->end(), is_measured)) {
    return bad_input(
        fmt::format("no row of {} has a time to learn from", join(request.train, ", ")));
  }
  auto priors = priors_of(request, catalog->noun);
  if (!priors.ok()) return priors.error();
  trials.priors = std::move(*priors);
  const std::size_t own = train->size();
  trials.cases = std::move(*train);
  std::move(test->begin(), test->end(), std::back_inserter(trials.cases));
  if (!request.split.empty()) {
    const Status appended = append_folds(request, trials);
    if (!appended.ok()) return appended.error();
    return trials;
  }
  ShardedTrial& trial = trials.trials.emplace_back();
  for (std::size_t i = 0; i < trials.cases.size(); ++i) {
    (i < own ? trial.train : trial.test).push_back(&trials.cases[i]);
    if (i >= own) trial.numbers.push_back(i - own);
  }
  return trials;
}

Result<ValidateAnswer> validate_sharded(const Environment& environment,
                                        const ShardedRequest& request) {
  const auto trials = read_sharded_trials(environment, request);
  if (!trials.ok()) return trials.error();
  std::vector<ShardedOutcomes> all;  // Ours, unless only baselines are wanted, and the baselines.
  if (!request.only_baselines) {
    auto ours = predicted_outcomes(*trials);
    if (!ours.ok()) return ours.error();
    all.push_back(std::move(*ours));
  }
  const std::size_t first_baseline = all.size();
  for (const ShardedBaseline baseline : request.baselines) {
    auto found = compared_outcomes(*trials, baseline);
    if (!found.ok()) return found.error();
    all.push_back(std::move(*found));
  }
  ValidateAnswer answer{.ours = sharded_validation(request, all.front()), .baselines = {}};
  answer.skipped = skipped_sentence(all.front());
  answer.ours.notes = sharded_notes(all.front(), answer.ours);
  for (std::size_t i = first_baseline; i < all.size(); ++i) {
    Validation& it = answer.baselines.emplace_back(sharded_validation(request, all[i]));
    it.baseline = name_of(request.baselines[i - first_baseline]);
    it.notes = answer.ours.notes;
  }
  if (!request.predictions.empty()) {
    const ShardedOutcomes& written =
        first_baseline < all.size() ? all[first_baseline] : all.front();
    const Status status = write_sharded_predictions(request.predictions, written);
    if (!status.ok()) return status.error();
  }
  return answer;
}

}  // namespace stint
