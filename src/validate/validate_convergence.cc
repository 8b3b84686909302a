#include "validate/validate_convergence.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/text.h"
#include "calibrate/convergence_models.h"
#include "calibrate/score.h"
#include "measure/tables/convergence_table.h"
#include "validate/row_files.h"

namespace stint {
namespace {

// A level that is reached in fewer epochs is measured too coarsely: metrics are known only at the
// ends of epochs.
constexpr int kEpochsMin = 5;

/// The prediction for a run, and its measurement.
struct Outcome {
  std::string job;
  std::optional<StepsEstimate> estimate;
  bool has_interval = false;
  std::string note;
  std::optional<double> steps;     // Measured.
  std::optional<double> censored;  // The last step of a run that did not reach the level.
  bool coarse = false;
};

Result<std::vector<ConvergenceRow>> read_all(const std::vector<std::string>& files,
                                             Measured measured) {
  return rows_of_files<ConvergenceRow>(files,
                                       [&](const std::string& text, const std::string& source) {
                                         return read_convergence_table(text, source, measured);
                                       });
}

/// With a split the runs of another batch than `test` or of another job, else all.
std::map<std::string, TrainedJob> jobs_for(const ConvergenceRun& test, bool split,
                                           const std::vector<ConvergenceRun>& train) {
  std::vector<ConvergenceRun> kept;
  for (const ConvergenceRun& run : train) {
    if (!split || run.job != test.job || run.batch != test.batch) kept.push_back(run);
  }
  return trained_jobs(kept);
}

void predict(const std::string& model, const std::map<std::string, TrainedJob>& jobs,
             const ConvergenceRun& run, Outcome& outcome) {
  const auto found = jobs.find(run.job);
  if (found == jobs.end()) {
    outcome.note = "the job has no other run with gradient noise to learn from";
    return;
  }
  if (model.empty()) {
    outcome.estimate = ConvergenceModel(jobs).estimate(run.job, run.batch);
    outcome.has_interval = true;
    return;
  }
  for (const auto& [baseline, name] : names_of(StepsBaseline{})) {
    if (name != model) continue;
    const auto steps = baseline_steps(baseline, found->second, run.batch);
    if (steps) outcome.estimate = StepsEstimate{.steps = *steps};
  }
  if (!outcome.estimate) outcome.note = "the baseline has no prediction for this batch";
}

void measure(const std::map<std::string, TrainedJob>& jobs, const ConvergenceRun& run,
             Outcome& outcome) {
  const auto found = jobs.find(run.job);
  if (found == jobs.end()) return;
  for (const ReachedRun& it : found->second.runs) outcome.coarse |= it.epochs < kEpochsMin;
  const std::vector<MetricPoint> points = metric_by_steps(run);
  if (points.empty()) return;
  outcome.steps = moment_of(points, found->second.level);
  if (!outcome.steps) outcome.censored = points.back().moment;
}

Scored scored_of(const Outcome& outcome) {
  // Scores are relative, so that their unit does not matter.
  const auto unit = [](std::optional<double> steps) {
    return steps ? std::optional(*steps * kSecond) : std::nullopt;
  };
  Scored scored{.job = outcome.job, .measured = unit(outcome.steps)};
  scored.longer_than = unit(outcome.censored);
  if (outcome.estimate) scored.predicted = outcome.estimate->steps * kSecond;
  if (outcome.estimate && outcome.has_interval) {
    scored.p10 = outcome.estimate->p10 * kSecond;
    scored.p90 = outcome.estimate->p90 * kSecond;
  }
  return scored;
}

std::vector<std::string> notes_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> notes{
      "Errors are of optimizer steps to the target; each run counts once."};
  std::size_t censored = 0;
  std::size_t right = 0;
  std::set<std::string> coarse;
  for (const Outcome& it : outcomes) {
    if (it.coarse) coarse.insert(it.job);
    if (!it.censored || !it.estimate) continue;
    ++censored;
    if (it.has_interval && it.estimate->p90 >= *it.censored) ++right;
  }
  if (censored > 0) {
    notes.push_back(
        fmt::format("Runs that never reached the target, which count in the coverage only: {}; the "
                    "interval extends beyond the end of {} of them.",
                    censored, right));
  }
  if (!coarse.empty()) {
    notes.push_back(fmt::format(
        "Not in the headline, because training runs reach the target within {} epochs: {}.",
        kEpochsMin, join({coarse.begin(), coarse.end()}, ", ")));
  }
  return notes;
}

/// Remarks on the training runs.
std::vector<std::string> notes_of(const std::vector<ConvergenceRun>& train) {
  int rows = 0;
  std::vector<std::string> falling;
  for (const auto& [name, job] : trained_jobs(train)) {
    rows += job.rows_without_noise;
    if (job.level.lower_is_better) falling.push_back(name);
  }
  std::vector<std::string> notes;
  if (!falling.empty()) {
    notes.push_back("Lower metrics count as better, because they fall during training: " +
                    join(falling, ", ") + ".");
  }
  if (rows > 0) {
    notes.push_back(fmt::format(
        "Training rows without positive gradient figures, not used as noise: {}.", rows));
  }
  return notes;
}

Validation score_outcomes(const std::vector<Outcome>& outcomes) {
  std::vector<Scored> all;
  std::vector<Scored> headline;
  for (const Outcome& it : outcomes) {
    if (!it.steps && !it.censored && it.estimate) continue;  // Nothing was measured.
    all.push_back(scored_of(it));
    if (!it.coarse) headline.push_back(all.back());
  }
  Validation validation{.what = "convergence"};
  validation.overall = score(headline);
  validation.mean_over_jobs = mean_over(score_by_job(headline));
  validation.jobs = score_by_job(all);
  if (headline.size() < all.size()) validation.groups["all runs"] = score(all);
  validation.notes = notes_of(outcomes);
  return validation;
}

std::vector<PredictionLine> lines_of(const std::vector<ConvergenceRun>& runs,
                                     const std::vector<Outcome>& outcomes) {
  std::vector<PredictionLine> lines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    PredictionLine line{.note = outcomes[i].note};
    if (const auto& estimate = outcomes[i].estimate) {
      line.predicted = estimate->steps;
      if (outcomes[i].has_interval) {
        line.p10 = estimate->p10;
        line.p90 = estimate->p90;
      }
    }
    for (const std::size_t row : runs[i].rows) {
      line.row = row;
      lines.push_back(line);
    }
  }
  std::sort(lines.begin(), lines.end(),
            [](const PredictionLine& a, const PredictionLine& b) { return a.row < b.row; });
  return lines;
}

}  // namespace

std::vector<std::string> convergence_baselines() {
  std::vector<std::string> names;
  for (const auto& [baseline, name] : names_of(StepsBaseline{})) names.emplace_back(name);
  return names;
}

Result<ValidationReport> validate_convergence(const ConvergenceRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  const auto train_rows = read_all(request.train, Measured::kRequired);
  if (!train_rows.ok()) return train_rows.error();
  const auto test_rows = read_all(request.test, Measured::kOptional);
  if (!test_rows.ok()) return test_rows.error();
  const bool split = !request.split.empty();
  const std::vector<ConvergenceRun> train = runs_of(*train_rows);
  const std::vector<ConvergenceRun> test = split ? train : runs_of(*test_rows);

  std::vector<std::string> models = convergence_baselines();
  models.insert(models.begin(), "");
  std::map<std::string, std::vector<Outcome>> outcomes;
  for (const ConvergenceRun& run : test) {
    const auto jobs = jobs_for(run, split, train);
    for (const std::string& model : models) {
      Outcome outcome{.job = run.job};
      predict(model, jobs, run, outcome);
      measure(jobs, run, outcome);
      outcomes[model].push_back(std::move(outcome));
    }
  }
  const std::vector<std::string> train_notes = notes_of(train);
  ValidationReport report;
  for (const std::string& model : models) {
    Validation validation = score_outcomes(outcomes[model]);
    if (!model.empty()) validation.baseline = model;
    if (split) validation.split = request.split;
    validation.notes.insert(validation.notes.end(), train_notes.begin(), train_notes.end());
    if (model == request.baseline) {
      report.validation = std::move(validation);
      report.predictions = lines_of(test, outcomes[model]);
    } else {
      report.beside.push_back(std::move(validation));
    }
  }
  return report;
}

}  // namespace stint
