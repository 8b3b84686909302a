#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace stint {

/// A part of an amount and its share of it. A part of a difference may be negative, and its share
/// more than one.
template <class Q>
struct PartOf {
  std::string name;
  Q amount;
  double share = 0;
};

/// The changes that would make two plans equal, all else being as predicted. Fractions: 0.1 is 10
/// %.
struct OrderFlip {
  std::optional<double> price_up;    // Of the plan's VMs; where cost decides.
  std::optional<double> price_down;  // Of the runner-up's VMs; where cost decides.
  std::optional<double> time_up;     // Of the plan's iterations; absent: no time would do.
  double time_interval = 0;          // Half of the 80 % interval of the plan's time.
  double chance = 0;                 // That its time is off by time_up or more.
};

/// The next plan of the answer beside the plan.
struct RunnerUp {
  std::size_t row = 0;  // From 0.
  Plan plan;
  Dollars dearer;  // Than the plan; negative: it is cheaper.
  Seconds longer;
  std::optional<PartOf<Dollars>> dearer_by;  // The part of the bill that makes most of `dearer`.
  std::optional<PartOf<Seconds>> longer_by;  // The part of the iterations, likewise.
  std::optional<OrderFlip> flip;             // Where the plan is better by the objective.
};

/// A cheaper plan that a later deadline would allow.
struct LaterPlan {
  Plan plan;
  Seconds deadline;  // The earliest that it keeps, at the confidence asked for.
  Dollars saved;     // Against the plan.
};

/// The parts of one plan.
struct Explanation {
  std::optional<std::string> job;
  std::optional<PlanGoal> goal;
  std::size_t row = 0;  // From 0.
  Plan plan;
  std::vector<PartOf<Dollars>> bill;       // Biggest first, without what costs nothing.
  std::vector<PartOf<Seconds>> iteration;  // In its order.
  std::optional<Seconds> training;         // All iterations; the rest of the time is set-up.
  std::optional<RunnerUp> runner_up;
  std::optional<LaterPlan> later;
};

/// Requires a plan in that row.
Explanation explain(const PlanAnswer& answer, std::size_t row);

/// The probability that a time is at most `limit`. Times are log-normal; both ends of the interval
/// say how wide.
double chance_within(const TimeRange& time, Seconds limit);

/// The shortest limit that a time keeps with probability `confidence`, which lies in (0, 1).
Seconds limit_kept(const TimeRange& time, double confidence);

}  // namespace stint
