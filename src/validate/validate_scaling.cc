#include "validate/validate_scaling.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/scaling/scaling_fit.h"
#include "calibrate/scaling/scaling_priors.h"
#include "calibrate/scaling/scaling_split.h"
#include "calibrate/scaling/scaling_transfer.h"
#include "calibrate/score.h"
#include "load/job_files.h"
#include "load/published_tables.h"
#include "validate/validation_report.h"

namespace stint {
namespace {

using Rows = std::vector<ScalingRow>;

Result<Rows> read_tables(ScalingFormat format, const std::vector<std::string>& files) {
  Rows all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto rows = read_scaling(format, *text, file);
    if (!rows.ok()) return rows.error();
    std::move(rows->begin(), rows->end(), std::back_inserter(all));
  }
  return all;
}

struct Trial {
  Rows train;
  Rows test;
  std::vector<std::size_t> numbers;  // Of the test rows in their files.
};

/// Appends the rows of "FORMAT=FILE" words.
Status append_priors(const std::vector<std::string>& priors, Rows& rows) {
  for (const std::string& word : priors) {
    const std::size_t equals = word.find('=');
    std::optional<ScalingFormat> format;
    for (const auto& [value, name] : names_of(ScalingFormat{})) {
      if (equals != std::string::npos && word.substr(0, equals) == name) format = value;
    }
    if (!format) {
      return bad_usage(
          fmt::format("--prior must be FORMAT=FILE with mlperf or dgxc as the format, not '{}'",
                      printable(word)));
    }
    auto read = read_tables(*format, {word.substr(equals + 1)});
    if (!read.ok()) return read.error();
    std::move(read->begin(), read->end(), std::back_inserter(rows));
  }
  return {};
}

Result<std::vector<Trial>> read_trials(const ScalingRequest& request) {
  auto train = read_tables(request.format, request.train);
  if (!train.ok()) return train.error();
  const std::size_t own = train->size();
  const Status appended = append_priors(request.priors, *train);
  if (!appended.ok()) return appended.error();
  std::vector<Trial> trials;
  if (request.split.empty()) {
    auto test = read_tables(request.format, request.test);
    if (!test.ok()) return test.error();
    Trial& trial = trials.emplace_back(Trial{std::move(*train), std::move(*test), {}});
    for (std::size_t i = 0; i < trial.test.size(); ++i) trial.numbers.push_back(i);
    return trials;
  }
  const auto split = parse_scaling_split(request.split);
  if (!split.ok()) return split.error();
  for (const Fold& fold : folds(*split, *train)) {
    Trial trial;
    for (const std::size_t i : fold.train) trial.train.push_back((*train)[i]);
    for (const std::size_t i : fold.test) {
      if (i >= own) continue;  // Held out of the priors, but not scored.
      trial.test.push_back((*train)[i]);
      trial.numbers.push_back(i);
    }
    if (!trial.test.empty()) trials.push_back(std::move(trial));
  }
  if (trials.empty()) {
    return bad_input(fmt::format("no row of {} is left to test by --split {}",
                                 join(request.train, ", "), request.split));
  }
  return trials;
}

/// A test row and its prediction.
struct Outcome {
  std::size_t number = 0;
  const ScalingRow* row = nullptr;
  Forecast forecast;
};

using Outcomes = std::vector<Outcome>;

/// Whether the row has a measurement, usable or not.
bool counts(const Outcome& outcome) {
  return outcome.row->time || !outcome.row->unmeasured.empty();
}

Validation validation_of(const ScalingRequest& request, const Outcomes& outcomes) {
  std::vector<Scored> scored;
  std::map<std::string, std::vector<Scored>> groups;
  for (const Outcome& outcome : outcomes) {
    if (!counts(outcome)) continue;
    scored.push_back({.job = outcome.row->job,
                      .predicted = outcome.forecast.time,
                      .measured = outcome.row->time,
                      .p10 = outcome.forecast.p10,
                      .p90 = outcome.forecast.p90});
    const bool language = is_language_model(*outcome.row);
    groups[language ? "language models" : "other benchmarks"].push_back(scored.back());
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
std::string skipped_rows(const Outcomes& outcomes) {
  std::map<std::string, std::size_t> reasons;
  std::size_t count = 0;
  for (const Outcome& it : outcomes) {
    if (!counts(it) || (it.forecast.time && it.row->time)) continue;
    ++count;
    ++reasons[it.forecast.time ? it.row->unmeasured : it.forecast.note];
  }
  if (count == 0) return "";
  const auto most =
      std::max_element(reasons.begin(), reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} {} skipped: {} ({}).", counted(count, "row"), count == 1 ? "was" : "were",
                     most->first, most->second);
}

Status write_predictions(const std::string& path, const Outcomes& outcomes) {
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->in(kSecond)) : std::nullopt;
  };
  std::vector<PredictionLine> lines;
  for (const Outcome& it : outcomes) {
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

std::vector<std::string> notes_of(const Outcomes& outcomes, const Validation& validation) {
  if (outcomes.empty()) return {"the test files have no rows"};
  if (validation.overall.n == 0 && validation.overall.skipped == 0) {
    return {"the test rows have no measured times, so there is no score"};
  }
  return {};
}

Result<std::vector<Forecast>> forecast_by_benchmarks(const Trial& trial,
                                                     const ScalingPriors& priors) {
  const auto model = ScalingModel::fit(trial.train, priors);
  if (!model.ok()) return model.error();
  std::vector<Forecast> forecasts;
  for (const ScalingRow& row : trial.test) forecasts.push_back(model->estimate(row));
  return forecasts;
}

/// The priors of the network that the request describes, at the line rate of a row.
NetworkPriors network_priors(const ScalingRequest& request) {
  return [&request](BytesPerSecond network) -> Result<LawPriors> {
    FabricFacts facts = request.fabric;
    facts.network = network;
    auto context = fit_context("", facts, request.calibration);
    if (!context.ok()) return context.error();
    return context->priors;
  };
}

Result<Outcomes> our_outcomes(const ScalingRequest& request, const std::vector<Trial>& trials,
                              const ScalingPriors& priors) {
  Outcomes outcomes;
  for (const Trial& trial : trials) {
    const auto forecasts = request.by_network ? forecast_by_network(trial.train, trial.test, priors,
                                                                    network_priors(request))
                                              : forecast_by_benchmarks(trial, priors);
    if (!forecasts.ok()) return forecasts.error();
    for (std::size_t i = 0; i < trial.test.size(); ++i) {
      outcomes.push_back({trial.numbers[i], &trial.test[i], (*forecasts)[i]});
    }
  }
  return outcomes;
}

/// States the network where a row does not.
void set_network(const std::optional<BytesPerSecond>& network, Rows& rows) {
  for (ScalingRow& row : rows) {
    if (!row.network) row.network = network;
  }
}

Outcomes baseline_outcomes(const std::vector<Trial>& trials, ScalingBaseline baseline) {
  Outcomes outcomes;
  for (const Trial& trial : trials) {
    for (std::size_t i = 0; i < trial.test.size(); ++i) {
      outcomes.push_back({trial.numbers[i], &trial.test[i],
                          scaling_baseline(baseline, trial.train, trial.test[i])});
    }
  }
  return outcomes;
}

}  // namespace

Result<ValidateAnswer> validate_scaling(const ScalingRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  auto trials = read_trials(request);
  if (!trials.ok()) return trials.error();
  for (Trial& trial : *trials) {
    set_network(request.fabric.network, trial.train);
    set_network(request.fabric.network, trial.test);
  }
  const auto priors =
      scaling_priors(shipped_calibration("scaling-priors"), name_of(request.format));
  if (!priors.ok()) return priors.error();

  std::vector<Outcomes> all;  // Ours, unless only baselines are wanted, and the baselines.
  if (!request.only_baselines) {
    auto ours = our_outcomes(request, *trials, *priors);
    if (!ours.ok()) return ours.error();
    all.push_back(std::move(*ours));
  }
  const std::size_t first_baseline = all.size();
  for (const ScalingBaseline baseline : request.baselines) {
    all.push_back(baseline_outcomes(*trials, baseline));
  }
  ValidateAnswer answer{.ours = validation_of(request, all.front()), .baselines = {}};
  answer.skipped = skipped_rows(all.front());
  answer.ours.notes = notes_of(all.front(), answer.ours);
  for (std::size_t i = first_baseline; i < all.size(); ++i) {
    Validation& it = answer.baselines.emplace_back(validation_of(request, all[i]));
    it.baseline = name_of(request.baselines[i - first_baseline]);
    it.notes = answer.ours.notes;
  }
  if (!request.predictions.empty()) {
    const Outcomes& written = first_baseline < all.size() ? all[first_baseline] : all.front();
    const Status status = write_predictions(request.predictions, written);
    if (!status.ok()) return status.error();
  }
  return answer;
}

}  // namespace stint
