#include "validate/validate_epochs.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "calibrate/epoch_law.h"
#include "calibrate/score.h"
#include "validate/row_files.h"

namespace stint {
namespace {

// Epochs are whole numbers: one of four is an error of a quarter.
constexpr double kEpochsMin = 5;
constexpr std::string_view kApart = "sentiment140";

using Rows = std::vector<EpochTargetRow>;

/// Test rows by number, and the rows that they are predicted from.
struct EpochFold {
  Rows train;
  std::vector<std::size_t> test;
};

Result<Rows> read_all(const std::vector<std::string>& files, Measured measured) {
  return rows_of_files<EpochTargetRow>(files,
                                       [&](const std::string& text, const std::string& source) {
                                         return read_epoch_targets(text, source, measured);
                                       });
}

std::vector<EpochFold> folds_of(const std::string& split, const Rows& rows) {
  std::map<std::string, int> smallest;
  std::set<std::pair<std::string, int>> keys;
  const bool by_job = split == "leave-one-job-out";
  for (const EpochTargetRow& row : rows) {
    const auto [found, fresh] = smallest.try_emplace(row.workload, row.batch);
    if (!fresh) found->second = std::min(found->second, row.batch);
    keys.insert({row.workload, by_job ? 0 : row.batch});
  }
  std::vector<EpochFold> folds;
  for (const auto& [workload, batch] : keys) {
    EpochFold fold;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const EpochTargetRow& row = rows[i];
      const bool test = row.workload == workload &&
                        (by_job ? row.batch != smallest[workload] : row.batch == batch);
      if (test) {
        fold.test.push_back(i);
      } else {
        fold.train.push_back(row);
      }
    }
    folds.push_back(std::move(fold));
  }
  return folds;
}

/// A prediction of a row, by ours or by a baseline.
struct EpochOutcome {
  std::optional<StepsEstimate> estimate;
  bool has_interval = false;
};

std::optional<StepsBaseline> baseline_named(const std::string& name) {
  for (const auto& [baseline, text] : names_of(StepsBaseline{})) {
    if (name == text) return baseline;
  }
  return std::nullopt;
}

Status predict_fold(const EpochFold& fold, const Rows& rows, const std::string& model,
                    std::vector<EpochOutcome>& outcomes) {
  if (const auto baseline = baseline_named(model)) {
    for (const std::size_t i : fold.test) {
      const auto epochs = baseline_epochs(*baseline, fold.train, rows[i]);
      if (epochs) outcomes[i].estimate = StepsEstimate{.steps = *epochs};
    }
    return {};
  }
  const auto fitted = EpochModel::fit(fold.train);
  if (!fitted.ok()) return fitted.error();
  for (const std::size_t i : fold.test) {
    const EpochTargetRow& row = rows[i];
    outcomes[i] = {fitted->estimate(row.workload, row.target, row.batch), true};
  }
  return {};
}

Scored scored_of(const EpochTargetRow& row, const EpochOutcome& outcome) {
  // Scores are relative, so that their unit does not matter.
  Scored scored{.job = row.workload, .measured = *row.epochs * kSecond};
  if (!outcome.estimate) return scored;
  scored.predicted = outcome.estimate->steps * kSecond;
  if (outcome.has_interval) {
    scored.p10 = outcome.estimate->p10 * kSecond;
    scored.p90 = outcome.estimate->p90 * kSecond;
  }
  return scored;
}

Validation score_epochs(const Rows& rows, const std::vector<EpochOutcome>& outcomes,
                        const std::set<std::size_t>& tested) {
  std::vector<Scored> all;
  std::vector<Scored> headline;
  for (const std::size_t i : tested) {
    if (rows[i].epochs.value_or(0) < kEpochsMin) continue;
    all.push_back(scored_of(rows[i], outcomes[i]));
    if (!rows[i].workload.starts_with(kApart)) headline.push_back(all.back());
  }
  Validation validation{.what = "convergence"};
  validation.overall = score(headline);
  validation.mean_over_jobs = mean_over(score_by_job(headline));
  validation.jobs = score_by_job(all);
  validation.notes = {fmt::format(
      "Errors are of epochs to the target; rows of fewer than {:.0f} epochs are not scored.",
      kEpochsMin)};
  if (headline.size() < all.size()) {
    validation.notes.push_back(fmt::format(
        "Not in the headline, because its epochs do not depend on the batch: {}.", kApart));
  }
  return validation;
}

std::vector<PredictionLine> lines_of(const std::vector<EpochOutcome>& outcomes,
                                     const std::set<std::size_t>& tested, std::size_t first) {
  std::vector<PredictionLine> lines;
  for (const std::size_t i : tested) {
    PredictionLine line{.row = i - first};
    if (const auto& estimate = outcomes[i].estimate) {
      line.predicted = estimate->steps;
      if (outcomes[i].has_interval) {
        line.p10 = estimate->p10;
        line.p90 = estimate->p90;
      }
    } else {
      line.note = "no training row of the workload has this target, or the baseline needs noise";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Result<ValidationReport> validate_epochs(const ConvergenceRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  auto rows = read_all(request.train, Measured::kRequired);
  if (!rows.ok()) return rows.error();
  const auto test = read_all(request.test, Measured::kOptional);
  if (!test.ok()) return test.error();
  const bool split = !request.split.empty();
  const std::size_t first = split ? 0 : rows->size();
  std::vector<EpochFold> folds;
  if (split) {
    folds = folds_of(request.split, *rows);
  } else {
    EpochFold& fold = folds.emplace_back(EpochFold{.train = *rows, .test = {}});
    for (std::size_t i = 0; i < test->size(); ++i) fold.test.push_back(first + i);
    rows->insert(rows->end(), test->begin(), test->end());
  }
  std::set<std::size_t> tested;
  for (const EpochFold& fold : folds) tested.insert(fold.test.begin(), fold.test.end());
  std::vector<std::string> models = convergence_baselines();
  models.insert(models.begin(), "");
  ValidationReport report;
  for (const std::string& model : models) {
    std::vector<EpochOutcome> outcomes(rows->size());
    for (const EpochFold& fold : folds) {
      const Status done = predict_fold(fold, *rows, model, outcomes);
      if (!done.ok()) return done.error();
    }
    Validation validation = score_epochs(*rows, outcomes, tested);
    if (!model.empty()) validation.baseline = model;
    if (split) validation.split = request.split;
    if (model == request.baseline) {
      report.validation = std::move(validation);
      report.predictions = lines_of(outcomes, tested, first);
    } else {
      report.beside.push_back(std::move(validation));
    }
  }
  return report;
}

}  // namespace stint
