#include "calibrate/plan_choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

#include "base/check.h"
#include "base/normal.h"
#include "calibrate/score.h"

namespace stint {
namespace {

// Positions of deadlines between the fastest and the slowest candidate, in logarithms.
constexpr double kDeadlineShares[] = {0.05, 0.20, 0.35, 0.50, 0.65, 0.80, 0.95};
// Finer where promises are made.
constexpr double kBinStarts[] = {0, 0.1, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99};

/// The first candidate of which `key` is least.
template <class Key>
std::size_t least(std::span<const PlanCandidate> candidates, Key key) {
  CHECK(!candidates.empty());
  const auto found = std::min_element(
      candidates.begin(), candidates.end(),
      [&](const PlanCandidate& a, const PlanCandidate& b) { return key(a) < key(b); });
  return static_cast<std::size_t>(found - candidates.begin());
}

/// A candidate that a model has a prediction for.
struct Option {
  std::size_t number = 0;
  Dollars cost;
  double probability = 0;  // Of keeping the deadline.
};

std::vector<Option> options_of(std::span<const PlanCandidate> candidates,
                               const PlanGuesses& guesses, Seconds deadline) {
  CHECK(guesses.size() == candidates.size());
  std::vector<Option> options;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!guesses[i]) continue;
    options.push_back({.number = i,
                       .cost = candidates[i].price * guesses[i]->time,
                       .probability = probability_kept(*guesses[i], deadline)});
  }
  return options;
}

}  // namespace

double probability_kept(const PlanGuess& guess, Seconds deadline) {
  const double distance = std::log(deadline / guess.time);
  const double deviation = distance < 0 ? guess.spread.below : guess.spread.above;
  if (deviation <= 0) return distance < 0 ? 0 : 1;
  return normal_distribution(distance / deviation);
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

std::size_t choose_sure(std::span<const PlanCandidate> candidates, const PlanGuesses& guesses,
                        Seconds deadline, double confidence) {
  std::optional<std::size_t> cheapest;
  std::optional<std::size_t> likeliest;
  const auto likelier = [&](std::size_t i, std::size_t than) {
    const auto chance = [&](std::size_t k) { return probability_kept(*guesses[k], deadline); };
    if (chance(i) != chance(than)) return chance(i) > chance(than);
    return guesses[i]->time < guesses[than]->time;
  };
  for (const Option& it : options_of(candidates, guesses, deadline)) {
    if (!likeliest || likelier(it.number, *likeliest)) likeliest = it.number;
    if (it.probability < confidence) continue;
    const auto cost = [&](std::size_t i) { return candidates[i].price * guesses[i]->time; };
    if (!cheapest || it.cost < cost(*cheapest)) cheapest = it.number;
  }
  if (cheapest) return *cheapest;
  return likeliest ? *likeliest : largest_cluster(candidates);
}

std::size_t choose_by_risk(std::span<const PlanCandidate> candidates, const PlanGuesses& guesses,
                           Seconds deadline, const MissCharge& charge) {
  std::optional<std::size_t> best;
  Dollars least;
  for (const Option& it : options_of(candidates, guesses, deadline)) {
    if (it.probability < charge.least) continue;
    const Dollars charged = risk_factor(charge, it.probability) * it.cost;
    if (best && charged >= least) continue;
    best = it.number;
    least = charged;
  }
  return best ? *best : choose_sure(candidates, guesses, deadline, charge.least);
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

std::vector<ReliabilityBin> reliability(std::span<const Promise> promises) {
  std::vector<ReliabilityBin> bins;
  for (std::size_t i = 0; i < std::size(kBinStarts); ++i) {
    const bool last = i + 1 == std::size(kBinStarts);
    ReliabilityBin bin{.from = kBinStarts[i], .to = last ? 1 : kBinStarts[i + 1]};
    double promised = 0;
    int kept = 0;
    for (const Promise& it : promises) {
      if (it.probability < bin.from || (!last && it.probability >= bin.to)) continue;
      ++bin.n;
      promised += it.probability;
      if (it.kept) ++kept;
    }
    if (bin.n == 0) continue;
    bin.promised = promised / bin.n;
    bin.kept = static_cast<double>(kept) / bin.n;
    bins.push_back(bin);
  }
  return bins;
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
