#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "plan/plan.h"

namespace stint {

/// The outcome of a simulated run.
struct RunOutcome {
  Seconds time;
  bool finished = true;
  Bill bill;
  int losses = 0;         // Interruptions, in each of which one machine or several were lost.
  int machines_lost = 0;  // Total number of machines.
};

/// Mean and quantiles of a quantity over runs.
template <class Quantity>
struct RunSpread {
  Quantity mean;
  Quantity p10;
  Quantity p50;
  Quantity p90;
  Quantity standard_error;  // Standard error of the mean.
};

struct RunSummary {
  int runs = 0;
  RunSpread<Seconds> time;
  RunSpread<Dollars> cost;
  Bill bill;                         // Mean; the parts add up to the mean cost.
  double losses = 0;                 // Mean,
  double machines_lost = 0;          // likewise.
  double finished = 0;               // Share of runs.
  std::optional<double> p_deadline;  // Share of runs that met the deadline,
  std::optional<double> p_budget;    // and that finished within the budget.
};

/// Requires at least one outcome.
RunSummary summary_of(const std::vector<RunOutcome>& outcomes, std::optional<Seconds> deadline,
                      std::optional<Dollars> budget);

}  // namespace stint
