#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "plan/miss_charge.h"
#include "plan/validations.h"
#include "predict/law.h"

namespace stint {

/// A cluster that could have been rented for a job, and the job's measured time on it.
struct PlanCandidate {
  DollarsPerSecond price;  // Price of all its VMs.
  int workers = 1;
  Seconds measured;
};

/// The prediction of a model for the work on a candidate: a normal distribution of log time on each
/// side of its median.
struct PlanGuess {
  Seconds time;
  LogSpread spread = {};  // Zero for a model without intervals.
};

/// One per candidate; nothing where the model has no prediction.
using PlanGuesses = std::vector<std::optional<PlanGuess>>;

/// P(time ≤ deadline):
///
///   Φ(ln(D / T) / σ),  σ the deviation on the deadline's side of T
///
/// Without a spread, whether T ≤ D.
double probability_kept(const PlanGuess& guess, Seconds deadline);

/// Seven deadlines D between the fastest and the slowest measured time of the candidates:
///
///   D = fastest · (slowest / fastest)^q,  q = 5, 20, 35, 50, 65, 80, 95 %
///
/// Requires a candidate, and times above zero.
std::vector<Seconds> plan_deadlines(std::span<const PlanCandidate> candidates);

// Choices, as the number of the candidate; of equal ones the first. Each requires a candidate.

/// The candidate of least price · guessed time among those that keep the deadline with a
/// probability of at least `confidence`; when none does, the most probable one, and of equal ones
/// the fastest guess; when nothing is guessed, largest_cluster. A guess without a spread is
/// certain.
std::size_t choose_sure(std::span<const PlanCandidate> candidates, const PlanGuesses& guesses,
                        Seconds deadline, double confidence);

/// Weighs what certainty costs, as `stint plan` does: with P the probability of keeping the
/// deadline, the candidate of least
///
///   price · guessed time · (1 + bills · (1 − P))
///
/// among those with at least the least P of the charge; see plan/miss_charge.h. Clusters come in
/// whole VMs, so that the last percent may ask for half the bill again; this rule buys it only
/// where it is worth that. Where no candidate is likely enough, the most probable one, as
/// choose_sure.
std::size_t choose_by_risk(std::span<const PlanCandidate> candidates, const PlanGuesses& guesses,
                           Seconds deadline, const MissCharge& charge);

/// The lowest price per hour; of equal ones the most workers.
std::size_t cheapest_cluster(std::span<const PlanCandidate> candidates);

/// The most workers; of equal ones the lowest price per hour.
std::size_t largest_cluster(std::span<const PlanCandidate> candidates);

/// The measured cost of a candidate. Time past the deadline is charged twice:
///
///   price · (T + max(0, T − D)),  T measured, D the deadline
Dollars charged_cost(const PlanCandidate& candidate, Seconds deadline);

/// The outcome of one decision.
struct PlanTrial {
  std::string job;
  double regret = 0;
  bool met = false;
};

/// Scores a choice against the clairvoyant optimum:
///
///   regret = charged cost / least cost among the candidates that really keep the deadline − 1
///
/// It may be below zero, for a deadline that is missed by a little on a cheaper cluster. Requires a
/// candidate that keeps the deadline.
PlanTrial try_plan(std::span<const PlanCandidate> candidates, std::size_t chosen, Seconds deadline);

/// A promise to keep a deadline, and what became of it.
struct Promise {
  double probability = 0;
  bool kept = false;
};

/// The promises by probability, in the bins that start at 0, 10, 50, 70, 80, 90, 95 and 99 %; bins
/// without a promise are left out.
std::vector<ReliabilityBin> reliability(std::span<const Promise> promises);

/// Mean and 0.9 quantile (interpolated linearly) of the regrets, and the share of deadlines met.
PlanScore score_plans(std::span<const PlanTrial> trials);

/// The same by job and over all of them.
PolicyScores score_policy(std::span<const PlanTrial> trials);

}  // namespace stint
