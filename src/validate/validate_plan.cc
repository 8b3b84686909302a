#include "validate/validate_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

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

/// The deviations of the interval of `forecast`; none without one.
LogSpread spread_of(const Forecast& forecast) {
  if (!forecast.p10 || !forecast.p90) return {};
  return {.below = std::log(*forecast.time / *forecast.p10) / kEightInTen,
          .above = std::log(*forecast.p90 / *forecast.time) / kEightInTen};
}

/// Predictions for the candidates of a group.
PlanGuesses guesses_of(const Group& group, const Rows& test,
                       const std::vector<Forecast>& forecasts) {
  PlanGuesses guesses;
  for (const std::size_t i : group.rows) {
    const Forecast& it = forecasts[i];
    auto& guess = guesses.emplace_back();
    if (!it.time) continue;
    guess = PlanGuess{.time = work_time(test[i], *it.time), .spread = spread_of(it)};
  }
  return guesses;
}

PlanGuesses without_spread(PlanGuesses guesses) {
  for (auto& guess : guesses) {
    if (guess) guess->spread = {};
  }
  return guesses;
}

/// What the candidates of a group measured, by what they are: numbers of VMs and of GPUs.
using Sizes = std::map<std::pair<double, int>, std::vector<double>>;  // Logarithms of times.

std::pair<double, int> size_of(const PlanCandidate& candidate) {
  return {candidate.price.in(kDollar / kHour), candidate.workers};
}

Sizes sizes_of(const Group& group) {
  Sizes sizes;
  for (const PlanCandidate& it : group.candidates) {
    sizes[size_of(it)].push_back(std::log(it.measured.in(kSecond)));
  }
  return sizes;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of each job, the deviation of the logarithm of single times from the mean of their size.
std::map<std::string, double> luck_of(const std::vector<Group>& groups) {
  std::map<std::string, std::pair<double, std::size_t>> sums;  // Squares, and what they are of.
  for (const Group& group : groups) {
    auto& [squares, count] = sums[group.job];
    for (const auto& [size, times] : sizes_of(group)) {
      const double middle = mean(times);
      for (const double it : times) squares += (it - middle) * (it - middle);
      count += times.size() - 1;
    }
  }
  std::map<std::string, double> luck;
  for (const auto& [job, sum] : sums) {
    if (sum.second > 0) luck[job] = std::sqrt(sum.first / static_cast<double>(sum.second));
  }
  return luck;
}

/// The mean measured time of each size, with the deviation of single ones.
PlanGuesses true_means(const Group& group, double luck) {
  const Sizes sizes = sizes_of(group);
  PlanGuesses guesses;
  for (const PlanCandidate& it : group.candidates) {
    const double middle = mean(sizes.at(size_of(it)));
    guesses.push_back(
        PlanGuess{.time = std::exp(middle) * kSecond, .spread = {.below = luck, .above = luck}});
  }
  return guesses;
}

/// A rule that takes a candidate of a group under a deadline.
using Rule = std::function<std::size_t(Seconds deadline)>;

/// The decisions of all policies, by name.
class Decisions {
 public:
  void add(const std::string& policy, const Group& group, const Rule& chosen) {
    for (const Seconds deadline : plan_deadlines(group.candidates)) {
      PlanTrial trial = try_plan(group.candidates, chosen(deadline), deadline);
      trial.job = group.job;
      trials_[policy].push_back(std::move(trial));
    }
  }

  std::map<std::string, PolicyScores> scores() const {
    std::map<std::string, PolicyScores> scores;
    for (const auto& [policy, trials] : trials_) scores[policy] = score_policy(trials);
    return scores;
  }

 private:
  std::map<std::string, std::vector<PlanTrial>> trials_;
};

/// What was promised of deadlines, and what happened.
struct Promises {
  std::vector<Promise> chosen;
  std::vector<Promise> candidates;

  /// `choose` is the rule of our plans.
  void add(const Group& group, const PlanGuesses& guesses, const Rule& choose) {
    for (const Seconds deadline : plan_deadlines(group.candidates)) {
      const std::size_t chosen_one = choose(deadline);
      for (std::size_t i = 0; i < guesses.size(); ++i) {
        if (!guesses[i]) continue;
        const Promise promise{.probability = probability_kept(*guesses[i], deadline),
                              .kept = group.candidates[i].measured <= deadline};
        candidates.push_back(promise);
        if (i == chosen_one) chosen.push_back(promise);
      }
    }
  }
};

Status decide_ours(const StepTrial& trial, const std::vector<Group>& groups,
                   const FitContext& context, double confidence, Decisions& decisions,
                   Promises& promises) {
  const auto forecasts = forecast(trial.train, trial.test, context);
  if (!forecasts.ok()) return forecasts.error();
  const MissCharge charge = miss_charge(confidence);
  for (const Group& group : groups) {
    const PlanGuesses guesses = guesses_of(group, trial.test, *forecasts);
    const PlanGuesses points = without_spread(guesses);
    const Rule ours = [&](Seconds deadline) {
      return choose_by_risk(group.candidates, guesses, deadline, charge);
    };
    decisions.add("stint", group, ours);
    promises.add(group, guesses, ours);
    decisions.add("stint-sure", group, [&](Seconds deadline) {
      return choose_sure(group.candidates, guesses, deadline, confidence);
    });
    decisions.add("stint-point", group, [&](Seconds deadline) {
      return choose_sure(group.candidates, points, deadline, confidence);
    });
  }
  return {};
}

void decide_others(const StepTrial& trial, const std::vector<Group>& groups, double confidence,
                   Decisions& decisions) {
  for (const auto& [kind, name] : names_of(BaselineKind{})) {
    const auto forecasts = forecast_baseline(kind, trial);
    for (const Group& group : groups) {
      const PlanGuesses guesses = guesses_of(group, trial.test, forecasts);
      decisions.add(name, group, [&](Seconds deadline) {
        return choose_sure(group.candidates, guesses, deadline, confidence);
      });
    }
  }
  const MissCharge charge = miss_charge(confidence);
  auto luck = luck_of(groups);
  for (const Group& group : groups) {
    const PlanGuesses means = true_means(group, luck[group.job]);
    decisions.add("true-means", group, [&](Seconds deadline) {
      return choose_by_risk(group.candidates, means, deadline, charge);
    });
    const std::size_t cheapest = cheapest_cluster(group.candidates);
    const std::size_t largest = largest_cluster(group.candidates);
    decisions.add("cheapest-first", group, [&](Seconds) { return cheapest; });
    decisions.add("fastest-first", group, [&](Seconds) { return largest; });
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
  Promises promises;
  const DollarsPerSecond vm = published_vm_price();
  for (const StepTrial& trial : *trials) {
    const std::vector<Group> groups = groups_of(trial.test, vm);
    if (groups.empty()) continue;
    const Status ours =
        decide_ours(trial, groups, *context, request.confidence, decisions, promises);
    if (!ours.ok()) return ours.error();
    decide_others(trial, groups, request.confidence, decisions);
  }
  PlanValidation validation{.confidence = request.confidence, .policies = decisions.scores()};
  validation.reliability = reliability(promises.chosen);
  validation.reliability_candidates = reliability(promises.candidates);
  if (validation.policies.empty()) return nothing_to_choose(*trials);
  validation.overall = validation.policies.at("stint").overall;
  validation.jobs = validation.policies.at("stint").jobs;
  if (!request.split.empty()) validation.split = request.split;
  return validation;
}

}  // namespace stint
