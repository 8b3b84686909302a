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

/// A plan in the form of the simulator.
struct PlannedRun {
  RunSetup setup;
  std::string region;    // Region of its machines.
  double deviation = 0;  // Deviation of the logarithm of the work: the prediction error.
  double waiting = 0;    // Share of the work in which workers wait for each other or for data.
};

/// The run of a plan: its machines with their prices and (typical) hazards by age, its checkpoints,
/// and its work. The cost of a checkpoint, the losses without notice, and the price of storage are
/// the optimiser's (see optimise/spot_risk.h), as is the wait for a spot machine:
///
/// - machines of a pool are lost together so often that any of n are lost as often as the prior
///   says (see risk/group_loss.h);
/// - spot has no machine in place of a lost one in a share kSpotMissing of the cases; then one on
///   demand takes its place until the end, or the cluster waits where that has no price.
///
/// A plan without a region is assigned that in which its expected cost is closest to the stated
/// one. `space` is that of the question, which leaves nothing out. Bad input: a plan without a
/// prediction or iterations, or with machines or checkpoints that the catalogue does not have.
Result<PlannedRun> planned_run(const PlanQuestion& question, const Space& space, const Plan& plan);

struct SimulateOptions {
  int runs = 1000;
  std::uint64_t seed = 1;
  /// Each run draws its amount of work from the plan's interval. Else it is the predicted one.
  bool prediction_error = true;
};

/// A usage error for more than kRunsMax runs, which take seconds and 100 MB.
Status check(const SimulateOptions& options);
inline constexpr int kRunsMax = 200'000;

/// The outcome of the runs of a plan.
struct PlanRuns {
  RunSummary summary;
  double machines_lost = 0;        // Mean.
  std::optional<double> p_budget;  // Share of runs that finished within the budget.
};

/// Simulates runs with sampled lifetimes or, where there is one, along a trace from random times
/// on. Run i has the same random numbers for any plan. Requires one run or more, and at most one
/// spot group for a trace.
PlanRuns simulate_planned(const PlannedRun& run, const PlanGoal& goal,
                          const SimulateOptions& options, const AvailabilityTrace* trace = nullptr);

struct SimulateRequest {
  std::string plan;              // A file, or a row of the last answer.
  std::string job = {};          // Empty: that of the plan.
  std::string calibration = {};  // As for a plan.
  std::string trace = {};        // A file; empty: lifetimes are sampled.
  bool wait = false;             // Wait for spot machines, instead of replacing them on demand.
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
