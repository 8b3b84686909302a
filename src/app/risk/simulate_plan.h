#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/environment.h"
#include "measure/tables/availability_trace.h"
#include "optimise/space.h"
#include "plan/plan.h"
#include "simulate/spot_run.h"

namespace stint {

/// A plan as the simulator plays it.
struct PlannedRun {
  RunSetup setup;
  std::string region;    // Where its machines are.
  double deviation = 0;  // Of the logarithm of the work: the error of what is predicted.
  double waiting = 0;    // Share of the work in which workers wait for each other or for data.
};

/// The run of a plan: its machines with their prices and hazards by age (typical ones), its saves,
/// and its work. What a save costs, which losses come without notice, and what is paid for storage
/// is as the optimiser has it (see optimise/spot_risk.h), as is the wait for a spot machine:
///
/// - machines of a pool are lost together so often that any of n are lost as often as the prior
///   says (see risk/group_loss.h);
/// - spot has no machine in place of a lost one in a share kSpotMissing of the cases; then one on
///   demand takes its place until the end, or the cluster waits where that has no price.
///
/// A plan names no region where all were allowed: it is that in which the plan is expected to cost
/// most nearly what it says. `space` is that of the question, which leaves nothing out. Bad input:
/// a plan without a prediction or iterations, or with machines or saves that the catalogue does not
/// have.
Result<PlannedRun> planned_run(const PlanQuestion& question, const Space& space, const Plan& plan);

struct SimulateOptions {
  int runs = 1000;
  std::uint64_t seed = 1;
  /// Each run draws how long its work is from the plan's interval. Else it is the predicted.
  bool prediction_error = true;
};

/// How the runs of a plan went.
struct PlanRuns {
  RunSummary summary;
  double machines_lost = 0;        // Mean.
  std::optional<double> p_budget;  // Share of runs that were finished for the money.
};

/// Plays runs against sampled lives or, where there is one, along a trace from random times on.
/// Run i has the same chance whatever the plan. Requires one run or more, and at most one spot
/// group for a trace.
PlanRuns simulate_planned(const PlannedRun& run, const PlanGoal& goal,
                          const SimulateOptions& options, const AvailabilityTrace* trace = nullptr);

struct SimulateRequest {
  std::string plan;              // A file, or a row of the last answer.
  std::string job = {};          // Empty: that of the plan.
  std::string calibration = {};  // As for a plan.
  std::string trace = {};        // A file; empty: lives are sampled.
  bool wait = false;             // For spot machines, instead of replacing them on demand.
  SimulateOptions options = {};
};

struct SimulateReport {
  std::string job;
  Plan plan;
  PlanGoal goal;
  std::string region;
  PlanRuns runs;
  std::optional<std::string> trace;
  std::vector<std::string> warnings;
};

/// Simulates the runs of a plan that was made before.
Result<SimulateReport> simulate_plan(const Environment& environment,
                                     const SimulateRequest& request);

}  // namespace stint
