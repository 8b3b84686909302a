#include "calibrate/plan_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "base/check.h"
#include "base/normal.h"
#include "calibrate/score.h"
#include "calibrate/split.h"
#include "predict/law.h"

namespace stint {
namespace {

// Positions of deadlines between the fastest and the slowest candidate, in logarithms.
constexpr double kDeadlineShares[] = {0.05, 0.20, 0.35, 0.50, 0.65, 0.80, 0.95};

/// The first candidate of which `key` is least.
template <class Key>
std::size_t least(std::span<const PlanCandidate> candidates, Key key) {
  CHECK(!candidates.empty());
  const auto found = std::min_element(
      candidates.begin(), candidates.end(),
      [&](const PlanCandidate& a, const PlanCandidate& b) { return key(a) < key(b); });
  return static_cast<std::size_t>(found - candidates.begin());
}

}  // namespace

double conformal_quantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double place = std::ceil(share * static_cast<double>(values.size() + 1));
  const auto number = static_cast<std::size_t>(std::max(1.0, place));
  return values[std::min(number, values.size()) - 1];
}

/// Upwards: that is where deadlines are missed.
double deviation_of(const Forecast& forecast) {
  CHECK(forecast.time.has_value());
  CHECK(forecast.p90.has_value());
  return std::log(*forecast.p90 / *forecast.time) / kEightInTen;
}

Result<double> unseen_quantile(std::span<const StepRow> train, const FitContext& context,
                               double confidence) {
  std::map<std::string, std::vector<double>> by_job;
  for (const Fold& fold : folds(Split{}, train, TestRows::kSeveralVms)) {
    std::vector<StepRow> known;
    std::vector<StepRow> left_out;
    for (const std::size_t i : fold.train) known.push_back(train[i]);
    for (const std::size_t i : fold.test) left_out.push_back(train[i]);
    const auto forecasts = forecast(known, left_out, context);
    if (!forecasts.ok()) return forecasts.error();
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const Forecast& it = (*forecasts)[i];
      if (!it.time || !left_out[i].time) continue;
      by_job[left_out[i].job].push_back(std::log(*left_out[i].time / *it.time) / deviation_of(it));
    }
  }
  if (by_job.size() < 2) return normal_quantile(confidence);
  std::vector<double> of_jobs;
  for (auto& [job, of_rows] : by_job) {
    of_jobs.push_back(conformal_quantile(std::move(of_rows), confidence));
  }
  return conformal_quantile(std::move(of_jobs), confidence);
}

std::vector<Seconds> plan_deadlines(std::span<const PlanCandidate> candidates) {
  CHECK(!candidates.empty());
  const auto [fastest, slowest] = std::minmax_element(
      candidates.begin(), candidates.end(),
      [](const PlanCandidate& a, const PlanCandidate& b) { return a.measured < b.measured; });
  CHECK(fastest->measured > Seconds{});
  std::vector<Seconds> deadlines;
  for (const double share : kDeadlineShares) {
    deadlines.push_back(std::pow(slowest->measured / fastest->measured, share) * fastest->measured);
  }
  return deadlines;
}

std::size_t choose_by_guess(std::span<const PlanCandidate> candidates, const PlanGuesses& guesses,
                            Seconds deadline) {
  CHECK(guesses.size() == candidates.size());
  std::optional<std::size_t> cheapest;
  std::optional<std::size_t> fastest;
  const auto cost = [&](std::size_t i) { return candidates[i].price * guesses[i]->time; };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!guesses[i]) continue;
    if (!fastest || guesses[i]->time < guesses[*fastest]->time) fastest = i;
    if (guesses[i]->late > deadline) continue;
    if (!cheapest || cost(i) < cost(*cheapest)) cheapest = i;
  }
  if (cheapest) return *cheapest;
  return fastest ? *fastest : largest_cluster(candidates);
}

std::size_t cheapest_cluster(std::span<const PlanCandidate> candidates) {
  return least(candidates,
               [](const PlanCandidate& it) { return std::tuple(it.price, -it.workers); });
}

std::size_t largest_cluster(std::span<const PlanCandidate> candidates) {
  return least(candidates,
               [](const PlanCandidate& it) { return std::tuple(-it.workers, it.price); });
}

Dollars charged_cost(const PlanCandidate& candidate, Seconds deadline) {
  const Seconds past = std::max(Seconds{}, candidate.measured - deadline);
  return candidate.price * (candidate.measured + past);
}

PlanTrial try_plan(std::span<const PlanCandidate> candidates, std::size_t chosen,
                   Seconds deadline) {
  std::optional<Dollars> best;
  for (const PlanCandidate& it : candidates) {
    if (it.measured > deadline) continue;
    const Dollars cost = charged_cost(it, deadline);
    if (!best || cost < *best) best = cost;
  }
  CHECK(best.has_value());
  const PlanCandidate& it = candidates[chosen];
  return {
      .job = {}, .regret = charged_cost(it, deadline) / *best - 1, .met = it.measured <= deadline};
}

PlanScore score_plans(std::span<const PlanTrial> trials) {
  if (trials.empty()) return {};
  PlanScore score{.n = static_cast<int>(trials.size())};
  std::vector<double> regrets;
  int met = 0;
  for (const PlanTrial& trial : trials) {
    regrets.push_back(trial.regret);
    score.mean_regret += trial.regret / score.n;
    if (trial.met) ++met;
  }
  score.deadlines_met = static_cast<double>(met) / score.n;
  std::sort(regrets.begin(), regrets.end());
  score.p90_regret = quantile(regrets, 0.9);
  return score;
}

PolicyScores score_policy(std::span<const PlanTrial> trials) {
  std::map<std::string, std::vector<PlanTrial>> by_job;
  for (const PlanTrial& trial : trials) by_job[trial.job].push_back(trial);
  PolicyScores scores{.overall = score_plans(trials), .jobs = {}};
  for (const auto& [job, of_job] : by_job) scores.jobs[job] = score_plans(of_job);
  return scores;
}

}  // namespace stint
