#include "validate/validate_iteration.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/forecast.h"
#include "calibrate/probes.h"
#include "calibrate/score.h"
#include "load/published_tables.h"
#include "validate/step_trials.h"
#include "validate/validation_report.h"

namespace stint {
namespace {

/// The same rows, of which only measured ones can be chosen as probes.
Rows only_measured(Rows rows) {
  for (StepRow& row : rows) {
    if (!row.time) row.unusable = "was not measured";
  }
  return rows;
}

/// Moves the rows that are best to measure first from the test to the training part.
Status move_probes(StepTrial& trial, const FitContext& context, int count) {
  const auto table = fit_table(trial.train, context, true);
  if (!table.ok()) return table.error();
  std::set<std::size_t> moved;
  for (const auto& [job, rows] :
       choose_probes(*table, only_measured(trial.test), context.facts, count)) {
    moved.insert(rows.begin(), rows.end());
  }
  StepTrial rest{.train = std::move(trial.train)};
  for (std::size_t i = 0; i < trial.test.size(); ++i) {
    if (moved.contains(i)) {
      rest.train.push_back(std::move(trial.test[i]));
      continue;
    }
    rest.test.push_back(std::move(trial.test[i]));
    rest.numbers.push_back(trial.numbers[i]);
  }
  trial = std::move(rest);
  return {};
}

/// A test row and its prediction.
struct Outcome {
  std::size_t number = 0;
  StepRow row;
  Forecast forecast;
};

/// Adds up to the figures of one model.
class Tally {
 public:
  explicit Tally(StepFormat format) : format_(format) {}

  void add(const StepTrial& trial, const std::vector<Forecast>& forecasts) {
    for (std::size_t i = 0; i < trial.test.size(); ++i) {
      outcomes_.push_back({trial.numbers[i], trial.test[i], forecasts[i]});
    }
  }

  Validation validation(const ValidateRequest& request) const {
    std::vector<Scored> headline;
    for (const Outcome& outcome : outcomes_) {
      if (in_headline(outcome)) headline.push_back(scored(outcome));
    }
    Validation validation{
        .what = "iteration", .overall = score(headline), .jobs = score_by_job(headline)};
    validation.mean_over_jobs = mean_over(validation.jobs);
    validation.groups = groups();
    if (validation.groups.size() < 2) validation.groups.clear();
    if (!request.split.empty()) validation.split = request.split;
    return validation;
  }

  std::map<std::string, Score> groups() const {
    std::map<std::string, std::vector<Scored>> by_group;
    for (const Outcome& outcome : outcomes_) {
      if (!counts(outcome)) continue;
      const std::string apart = kept_apart(format_, outcome.row);
      const char* place = outcome.row.workers_by_vm.size() > 1 ? "several VMs" : "one VM";
      by_group[apart.empty() ? place : "apart: " + apart].push_back(scored(outcome));
    }
    std::map<std::string, Score> scores;
    for (const auto& [name, rows] : by_group) scores[name] = score(rows);
    return scores;
  }

  /// The reason why rows were skipped, with the most frequent one; empty when none was.
  std::string skipped() const {
    std::map<std::string, std::size_t> reasons;
    std::size_t count = 0;
    for (const Outcome& outcome : outcomes_) {
      const bool complete = outcome.forecast.time && outcome.row.time;
      if (complete || !in_headline(outcome)) continue;
      ++count;
      ++reasons[outcome.forecast.time ? outcome.row.unmeasured : outcome.forecast.note];
    }
    if (count == 0) return "";
    const auto commonest =
        std::max_element(reasons.begin(), reasons.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::size_t others = reasons.size() - 1;
    return fmt::format("{} {} skipped: {} ({}){}.", counted(count, "row"),
                       count == 1 ? "was" : "were", commonest->first, commonest->second,
                       others > 0 ? " and " + counted(others, "other reason") : "");
  }

  const std::vector<Outcome>& outcomes() const { return outcomes_; }

 private:
  /// Whether the row has a measurement, usable or not.
  static bool counts(const Outcome& outcome) {
    return outcome.row.time || !outcome.row.unmeasured.empty();
  }

  bool in_headline(const Outcome& outcome) const {
    return counts(outcome) && kept_apart(format_, outcome.row).empty();
  }

  static Scored scored(const Outcome& outcome) {
    return {.job = outcome.row.job,
            .predicted = outcome.forecast.time,
            .measured = outcome.row.time,
            .p10 = outcome.forecast.p10,
            .p90 = outcome.forecast.p90};
  }

  StepFormat format_;
  std::vector<Outcome> outcomes_;
};

std::optional<double> in_seconds(const std::optional<Seconds>& time) {
  return time ? std::optional(time->in(kSecond)) : std::nullopt;
}

Status write_predictions(const std::string& path, const std::vector<Outcome>& outcomes) {
  std::vector<PredictionLine> lines;
  for (const Outcome& outcome : outcomes) {
    const Forecast& it = outcome.forecast;
    lines.push_back({.row = outcome.number,
                     .predicted = in_seconds(it.time),
                     .p10 = in_seconds(it.p10),
                     .p90 = in_seconds(it.p90),
                     .note = it.note});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const PredictionLine& a, const PredictionLine& b) { return a.row < b.row; });
  return write_output(path, predictions_csv(lines));
}

std::optional<Score> repeat_score(StepFormat format, const std::vector<StepTrial>& trials) {
  std::vector<Scored> pairs;
  const StepTrial& trial = trials.front();
  for (const Rows* rows : {&trial.train, &trial.test}) {
    for (const StepRow& row : *rows) {
      if (!row.time || !row.repeat || !kept_apart(format, row).empty()) continue;
      pairs.push_back({.job = row.job, .predicted = row.time, .measured = *row.repeat});
    }
  }
  if (pairs.empty()) return std::nullopt;
  return score(pairs);
}

std::vector<std::string> notes_of(const ValidateRequest& request, const Tally& tally,
                                  const Validation& validation) {
  constexpr std::size_t kFewJobs = 10;
  std::vector<std::string> notes;
  if (tally.outcomes().empty()) {
    notes.emplace_back("the test files have no rows");
  } else if (validation.overall.n == 0 && validation.overall.skipped == 0) {
    notes.emplace_back("the test rows have no measured times, so there is no score");
  }
  if (request.split == "leave-one-job-out" && validation.jobs.size() < kFewJobs) {
    notes.push_back(fmt::format("only {} could be held out; others may be predicted worse",
                                counted(validation.jobs.size(), "job")));
  }
  if (request.format == StepFormat::kGavel) {
    notes.emplace_back(
        "Recommendation and several V100 in one server are scored separately, as the publisher of "
        "the table warns about them");
  }
  if (request.probes > 0) {
    notes.push_back(fmt::format("{} of each held-out job were moved into training",
                                counted(static_cast<std::size_t>(request.probes), "row")));
  }
  return notes;
}

Status check(const ValidateRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files;
  if (request.probes > 0 && request.split != "leave-one-job-out") {
    return bad_usage("--probes needs --split leave-one-job-out");
  }
  return {};
}

/// What is stated of the network, and what the devices of all rows tell.
FabricFacts known_fabric(const ValidateRequest& request, const StepTrial& trial) {
  Rows rows = trial.train;
  rows.insert(rows.end(), trial.test.begin(), trial.test.end());
  return with_inside(request.fabric, request.format, rows);
}

AccuracyRecord record_of(const std::string& name, const std::string& split, const Score& score) {
  return {.name = name,
          .split = split,
          .n = score.n,
          .mape = score.mape,
          .median_ape = score.median_ape,
          .p90_ape = score.p90_ape,
          .coverage80 = score.coverage80};
}

}  // namespace

Result<ValidateAnswer> validate_iteration(const ValidateRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  auto trials = read_step_trials({.format = request.format,
                                  .train = request.train,
                                  .test = request.test,
                                  .split = request.split});
  if (!trials.ok()) return trials.error();
  const auto context =
      fit_context(request.jobs, known_fabric(request, trials->front()), request.calibration);
  if (!context.ok()) return context.error();
  for (StepTrial& trial : *trials) {
    set_network(request.fabric, trial.train);
    set_network(request.fabric, trial.test);
  }

  Tally ours(request.format);
  std::vector<Tally> baselines(request.baselines.size(), Tally(request.format));
  for (StepTrial& trial : *trials) {
    drop_kept_apart(request.format, trial.train);
    if (request.probes > 0) {
      const Status moved = move_probes(trial, *context, request.probes);
      if (!moved.ok()) return moved.error();
    }
    if (!request.only_baselines) {
      const auto forecasts = forecast(trial.train, trial.test, *context);
      if (!forecasts.ok()) return forecasts.error();
      ours.add(trial, *forecasts);
    }
    for (std::size_t i = 0; i < baselines.size(); ++i) {
      baselines[i].add(trial, forecast_baseline(request.baselines[i], trial));
    }
  }
  ValidateAnswer answer{.ours = ours.validation(request), .baselines = {}};
  answer.ours.repeats = repeat_score(request.format, *trials);
  const Tally& first = request.only_baselines ? baselines.front() : ours;
  answer.skipped = first.skipped();
  answer.ours.notes = notes_of(request, first, first.validation(request));
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    Validation& it = answer.baselines.emplace_back(baselines[i].validation(request));
    it.baseline = name_of(request.baselines[i]);
    it.notes = answer.ours.notes;
  }
  if (!request.predictions.empty()) {
    const Tally& written = baselines.empty() ? ours : baselines.front();
    const Status status = write_predictions(request.predictions, written.outcomes());
    if (!status.ok()) return status.error();
  }
  return answer;
}

Result<ProbesAnswer> choose_probes(const ProbesRequest& request) {
  if (request.train.empty()) return bad_usage("--train FILE is required: the rows to learn from");
  if (request.count < 1) return bad_usage("-k must be a whole number of 1 or more");
  auto train = read_step_tables(request.format, request.train, TableUse::kLearn);
  if (!train.ok()) return train.error();
  auto configs = read_step_tables(request.format, {request.configs}, TableUse::kPredict);
  if (!configs.ok()) return configs.error();
  set_network(request.fabric, *train);
  set_network(request.fabric, *configs);
  const auto context = fit_context(request.jobs, request.fabric);
  if (!context.ok()) return context.error();
  const auto table = fit_table(*train, *context, true);
  if (!table.ok()) return table.error();
  ProbesAnswer answer{.rows = choose_probes(*table, *configs, context->facts, request.count)};
  const auto forecasts = forecast(*table, *configs, context->facts);
  for (std::size_t i = 0; i < configs->size(); ++i) {
    const std::string& job = (*configs)[i].job;
    if (!answer.rows.contains(job)) answer.unknown.emplace(job, forecasts[i].note);
  }
  answer.configs = std::move(*configs);
  return answer;
}

Result<std::vector<AccuracyRecord>> left_out_accuracy(const CalibrateRequest& request) {
  const std::string split = "leave-one-job-out";
  const auto answer = validate_iteration({.format = request.format,
                                          .train = request.train,
                                          .split = split,
                                          .jobs = request.jobs,
                                          .fabric = request.fabric,
                                          .calibration = request.onto});
  if (!answer.ok()) return answer.error();
  std::vector<AccuracyRecord> records;
  for (const auto& [job, score] : answer->ours.jobs) {
    if (score.n > 0) records.push_back(record_of(job, split, score));
  }
  records.push_back(record_of("mean over jobs", split, answer->ours.mean_over_jobs));
  return records;
}

}  // namespace stint
