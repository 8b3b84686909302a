#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run/run_report.h"
#include "load/environment.h"
#include "run/runner.h"
#include "supervise/rehearsal_run.h"

namespace stint {

/// One way to go on with a run.
struct WayOn {
  std::string name;  // "stay", or what is rented instead.
  RunPlan plan;
  double slowness = 1;  // Steps take so many times what the plan says.
  bool moves = false;
};

/// The forecast of one way to continue, from now on.
struct WeighedWay {
  WayOn way;
  Seconds time;
  Dollars cost;  // With the move.
  std::optional<double> p_deadline = {};
};

/// The best of the ways, of which the first is to stay. With a deadline that is the cheapest of
/// those that keep it nearly as surely as any does; else the cheapest. A move must save more than a
/// tenth of what is left to pay, unless it is for the deadline.
std::size_t best_way(const std::vector<WeighedWay>& ways);

/// The arithmetic in words.
std::string reason_of(const std::vector<WeighedWay>& ways, std::size_t chosen,
                      const std::string& cause);

/// The ways there are: to stay with steps as slow as they are; where steps became slow in mid-run,
/// fresh machines of the same types, which are as fast as planned; and the clusters of the answer
/// that the plan came from. Where steps were slow from the beginning the prediction is wrong, and
/// taken to be as wrong for all of them.
std::vector<WayOn> ways_on(const Environment& environment, const std::string& folder,
                           const RunRecord& record, const Supervisor& supervisor,
                           const RunPlan& plan, bool changed_in_mid_run);

/// Whether another plan for the rest of a run pays for the move to it.
Replanning think_again(const Environment& environment, const std::string& folder,
                       const RunRecord& record, const Supervisor& supervisor, const RunPlan& plan,
                       const std::string& reason);

}  // namespace stint
