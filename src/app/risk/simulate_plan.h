#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/risk/run_summary.h"
#include "load/environment.h"
#include "measure/tables/availability_trace.h"
#include "optimise/space.h"
#include "plan/plan.h"
#include "supervise/rehearsal_run.h"

namespace stint {

/// A plan in the form of a rehearsal.
struct PlannedRun {
  RunTerms terms;
  RehearsalWorld world;
  std::string region;        // Region of its machines.
  double deviation = 0;      // Deviation of the logarithm of the work: the prediction error.
  double exposed = 0;        // Share of the work that is exposed communication,
  double waiting = 0;        // and in which workers wait for each other or for data.
  DollarsPerSecond anchors;  // Machines that only keep checkpoints.
  DollarsPerSecond storage;
};

/// The run of a plan: the terms of its supervisor, and the world as the optimiser sees it, with the
/// (typical) hazards by age of its machines, their notice, and the cost of a checkpoint. The
/// supervisor is that of `stint run`, so that the rehearsal does what a run does, with these
/// differences: steps take a time that is inverse to the number of machines, a spot machine that
/// cannot be had is replaced on demand until it can be had again, and the budget is not enforced,
/// so that costs are those to finish.
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

/// A usage error for more than kRunsMax runs, which take minutes.
Status check(const SimulateOptions& options);
inline constexpr int kRunsMax = 200'000;

/// Rehearses runs with sampled lifetimes or, where there is one, along a trace from random times
/// on. Where on-demand machines have a price, the supervisor keeps the deadline of the goal. Run i
/// has the same random numbers for any plan. Where very much happens in each, fewer are made.
/// Requires one run or more, and at most one spot group for a trace.
RunSummary simulate_planned(const PlannedRun& run, const PlanGoal& goal,
                            const SimulateOptions& options,
                            const AvailabilityTrace* trace = nullptr);

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
  RunSummary runs;
  std::optional<std::string> trace;
  std::vector<std::string> warnings;
};

/// Simulates the runs of a plan that was made before.
Result<SimulateReport> simulate_plan(const Environment& environment,
                                     const SimulateRequest& request);

}  // namespace stint
