#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "calibrate/forecast.h"
#include "plan/validations.h"

namespace stint {

/// An upper bound of a further value with probability `share`, if it has the distribution of
/// `values`: the ⌈share (n + 1)⌉-th smallest of n, or the greatest where n is too small (Vovk et
/// al. 2005, split conformal prediction). Requires a value.
double conformal_quantile(std::vector<double> values, double share);

/// The deviation of log time that corresponds to the interval of `forecast`. Requires one.
double deviation_of(const Forecast& forecast);

/// The number of deviations above its prediction that a time does not exceed, with probability
/// `confidence`, for a job without rows on a cluster in `train`. The intervals of such a job are
/// wide on purpose, as few jobs are known; the right width is measured on the training rows alone.
/// Each of their jobs is held out like the new one, and
///
///   z = ln(measured / predicted) / deviation
///
/// computed for its rows on several VMs. Rows of a job share its errors, so that jobs count and not
/// rows: the conformal quantile over jobs of the conformal quantile of z over a job's rows. With
/// fewer than two jobs to hold out, the normal quantile.
Result<double> unseen_quantile(std::span<const StepRow> train, const FitContext& context,
                               double confidence);

/// A cluster that could have been rented for a job, and the job's measured time on it.
struct PlanCandidate {
  DollarsPerSecond price;  // Price of all its VMs.
  int workers = 1;
  Seconds measured;
};

/// The prediction of a model for the work on a candidate.
struct PlanGuess {
  Seconds time;
  Seconds late;  // Upper bound at the requested confidence; `time` for a model without intervals.
};

/// One per candidate; nothing where the model has no prediction.
using PlanGuesses = std::vector<std::optional<PlanGuess>>;

/// Seven deadlines D between the fastest and the slowest measured time of the candidates:
///
///   D = fastest · (slowest / fastest)^q,  q = 5, 20, 35, 50, 65, 80, 95 %
///
/// Requires a candidate, and times above zero.
std::vector<Seconds> plan_deadlines(std::span<const PlanCandidate> candidates);

// Choices, as the number of the candidate; of equal ones the first. Each requires a candidate.

/// The candidate of least price · guessed time among those whose late guess keeps the deadline;
/// when none does, the one of least guessed time; when nothing is guessed, largest_cluster.
std::size_t choose_by_guess(std::span<const PlanCandidate> candidates, const PlanGuesses& guesses,
                            Seconds deadline);

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

/// Mean and 0.9 quantile (interpolated linearly) of the regrets, and the share of deadlines met.
PlanScore score_plans(std::span<const PlanTrial> trials);

/// The same by job and over all of them.
PolicyScores score_policy(std::span<const PlanTrial> trials);

}  // namespace stint
