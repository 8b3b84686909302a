#include "validate/validate_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/normal.h"
#include "base/text.h"
#include "calibrate/plan_choice.h"
#include "validate/step_trials.h"
#include "validate/validation_report.h"

namespace stint {
namespace {

constexpr std::size_t kCandidatesMin = 8;
// The amount of work does not affect regret.
constexpr double kSamples = 1e6;

/// The rows of one job and batch per GPU, of which one is to be chosen, as numbers of test rows.
struct Group {
  std::string job;
  std::vector<std::size_t> rows;
  std::vector<PlanCandidate> candidates;
};

Seconds work_time(const StepRow& row, Seconds step) {
  return kSamples / (row.batch_per_worker * workers(row)) * step;
}

std::vector<Group> groups_of(const Rows& test, DollarsPerSecond vm) {
  std::map<std::pair<std::string, double>, Group> by_setup;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const StepRow& row = test[i];
    if (!row.unusable.empty() || !row.time) continue;
    Group& group = by_setup[{row.job, row.batch_per_worker}];
    group.job = row.job;
    group.rows.push_back(i);
    group.candidates.push_back({.price = static_cast<double>(row.workers_by_vm.size()) * vm,
                                .workers = workers(row),
                                .measured = work_time(row, *row.time)});
  }
  std::vector<Group> groups;
  for (auto& [setup, group] : by_setup) {
    if (group.rows.size() >= kCandidatesMin) groups.push_back(std::move(group));
  }
  return groups;
}

/// Predictions for the candidates of a group; `deviations` is the number of deviations above the
/// forecast of the late time.
PlanGuesses guesses_of(const Group& group, const Rows& test, const std::vector<Forecast>& forecasts,
                       double deviations) {
  PlanGuesses guesses;
  for (const std::size_t i : group.rows) {
    const Forecast& it = forecasts[i];
    auto& guess = guesses.emplace_back();
    if (!it.time) continue;
    const Seconds time = work_time(test[i], *it.time);
    const double factor = deviations == 0 ? 1 : std::exp(deviations * deviation_of(it));
    guess = PlanGuess{.time = time, .late = factor * time};
  }
  return guesses;
}

/// The decisions of all policies, by name.
class Decisions {
 public:
  void add(const std::string& policy, const Group& group, const PlanGuesses& guesses) {
    for (const Seconds deadline : plan_deadlines(group.candidates)) {
      keep(policy, group, choose_by_guess(group.candidates, guesses, deadline), deadline);
    }
  }

  void add(const std::string& policy, const Group& group, std::size_t chosen) {
    for (const Seconds deadline : plan_deadlines(group.candidates)) {
      keep(policy, group, chosen, deadline);
    }
  }

  std::map<std::string, PolicyScores> scores() const {
    std::map<std::string, PolicyScores> scores;
    for (const auto& [policy, trials] : trials_) scores[policy] = score_policy(trials);
    return scores;
  }

 private:
  void keep(const std::string& policy, const Group& group, std::size_t chosen, Seconds deadline) {
    PlanTrial trial = try_plan(group.candidates, chosen, deadline);
    trial.job = group.job;
    trials_[policy].push_back(std::move(trial));
  }

  std::map<std::string, std::vector<PlanTrial>> trials_;
};

Status decide_ours(const StepTrial& trial, const std::vector<Group>& groups,
                   const FitContext& context, double confidence, Decisions& decisions) {
  const auto forecasts = forecast(trial.train, trial.test, context);
  if (!forecasts.ok()) return forecasts.error();
  std::optional<double> unseen;
  for (const Group& group : groups) {
    double deviations = normal_quantile(confidence);
    if (!seen_on_cluster(trial.train, group.job)) {
      if (!unseen) {
        const auto quantile = unseen_quantile(trial.train, context, confidence);
        if (!quantile.ok()) return quantile.error();
        unseen = *quantile;
      }
      deviations = *unseen;
    }
    decisions.add("stint", group, guesses_of(group, trial.test, *forecasts, deviations));
    // The condition of `stint plan` for every job, seen on a cluster or not.
    decisions.add("stint-normal", group,
                  guesses_of(group, trial.test, *forecasts, normal_quantile(confidence)));
    decisions.add("stint-point", group, guesses_of(group, trial.test, *forecasts, 0));
  }
  return {};
}

void decide_others(const StepTrial& trial, const std::vector<Group>& groups, Decisions& decisions) {
  for (const auto& [kind, name] : names_of(BaselineKind{})) {
    const auto forecasts = forecast_baseline(kind, trial);
    for (const Group& group : groups) {
      decisions.add(name, group, guesses_of(group, trial.test, forecasts, 0));
    }
  }
  for (const Group& group : groups) {
    decisions.add("cheapest-first", group, cheapest_cluster(group.candidates));
    decisions.add("fastest-first", group, largest_cluster(group.candidates));
  }
}

Error nothing_to_choose(const std::vector<StepTrial>& trials) {
  const bool measured = std::any_of(trials.begin(), trials.end(), [](const StepTrial& trial) {
    return std::any_of(trial.test.begin(), trial.test.end(),
                       [](const StepRow& row) { return row.time.has_value(); });
  });
  if (!measured) {
    return bad_input(
        "the test rows have no measured times (step_time_s), so no plan can be scored");
  }
  return bad_input(fmt::format(
      "no job and batch per GPU has {} measured test rows, so there is nothing to choose from",
      kCandidatesMin));
}

Status check(const ValidatePlanRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files;
  if (request.confidence > 0 && request.confidence < 1) return {};
  return bad_usage(
      fmt::format("--confidence must be between 0 and 1, not {:g}", request.confidence));
}

}  // namespace

Result<PlanValidation> validate_plan(const ValidatePlanRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  const auto context = fit_context(request.jobs);
  if (!context.ok()) return context.error();
  const auto trials =
      read_step_trials({.train = request.train, .test = request.test, .split = request.split});
  if (!trials.ok()) return trials.error();

  Decisions decisions;
  const DollarsPerSecond vm = published_vm_price();
  for (const StepTrial& trial : *trials) {
    const std::vector<Group> groups = groups_of(trial.test, vm);
    if (groups.empty()) continue;
    const Status ours = decide_ours(trial, groups, *context, request.confidence, decisions);
    if (!ours.ok()) return ours.error();
    decide_others(trial, groups, decisions);
  }
  PlanValidation validation{.confidence = request.confidence, .policies = decisions.scores()};
  if (validation.policies.empty()) return nothing_to_choose(*trials);
  validation.overall = validation.policies.at("stint").overall;
  validation.jobs = validation.policies.at("stint").jobs;
  if (!request.split.empty()) validation.split = request.split;
  return validation;
}

}  // namespace stint
