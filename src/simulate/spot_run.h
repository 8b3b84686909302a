#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "catalog/market.h"
#include "measure/tables/availability_trace.h"
#include "plan/plan.h"
#include "risk/save_cost.h"
#include "risk/spot_time.h"
#include "simulate/spot_supply.h"

namespace stint {

inline constexpr Seconds kNever = std::numeric_limits<double>::infinity() * kSecond;

/// The checkpoint schedule of a job. A checkpoint that would not be safe before the end of the job
/// is not begun.
struct SaveSchedule {
  /// After each of these amounts of the job's work, independent of losses.
  Seconds interval = kNever;

  /// Alternatively, at these times after each start of the gang; after the last one, at the
  /// distance of the last two.
  std::vector<Seconds> begins = {};
};

/// Work in seconds of the undisturbed gang, and its checkpoint schedule.
struct SavedWork {
  Seconds work;
  SaveCost save;
  SaveSchedule schedule;
};

/// The progress of a job.
struct TrainedWork {
  Seconds work;
  Seconds stalled;     // By checkpoints so far.
  Seconds stall_left;  // Rest of an interrupted stall.
  int saves = 0;       // Checkpoints begun, of those by work; or since the start, of those by time.
};

/// The training of a gang between a start and the next loss, or the end of the job.
struct Stretch {
  Seconds time;
  TrainedWork end;
  TrainedWork safe;  // The last state that survives a loss without notice.
  bool done = false;
};

/// Trains from a safe state until `limit` has passed or the job is done. Requires checkpoints that
/// are safe before the next begins.
Stretch train(const SavedWork& job, const TrainedWork& from, Seconds limit);

/// Equal machines of a gang.
struct RunGroup {
  Market market = Market::kSpot;
  SpotPool pool;  // Its count is that of the group; an on-demand group uses only the count.
  DollarsPerSecond price;
  DollarsPerSecond price_on_demand;  // Price of the replacement of a spot machine.
};

/// A training run that needs all of its machines to train.
struct RunSetup {
  std::vector<RunGroup> groups;
  SavedWork job;
  double exposed_communication = 0;  // Share of the work, for the bill.
  double without_notice = 1;         // Share of losses before which no checkpoint is possible.
  RandomTime start_up;               // Of machines that start together; lognormal.
  // Wait for a spot machine, before an on-demand machine replaces it.
  std::optional<Seconds> patience;
  bool lost_while_waiting = true;  // Else machines do not age while the gang waits.
  DollarsPerSecond anchors;        // Machines that only keep checkpoints, paid all the time.
  DollarsPerSecond storage;
};

/// The outcome of a run.
struct RunOutcome {
  Seconds time;
  bool finished = true;  // Else it was given up after kWorkTimesMax times its work.
  Bill bill;
  int losses = 0;         // Number of times the gang stopped or had to wait longer.
  int machines_lost = 0;  // Total number of machines.
};

/// Simulates a run with a supply of machines.
///
/// The gang starts when the last machine has started up, and stops at each loss. The lost machines
/// are replaced from spot, or on demand when their patience is over; then all restore the last safe
/// state. A loss with notice keeps the state. All machines that are up are paid: those that start
/// up or restore as set-up, those that wait for others as idle, and time whose work is lost as work
/// redone, with its stalls. Checkpoints stay in their region, so that there is no egress.
RunOutcome play_run(const RunSetup& setup, const SpotSupply& supply, Random random);

/// With lifetimes sampled from the hazards of the groups.
RunOutcome simulate_run(const RunSetup& setup, Random random);

/// With a trace from `start` on, which limits the only spot group.
RunOutcome replay_run(const RunSetup& setup, const AvailabilityTrace& trace, Seconds start,
                      Random random);

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
  double losses = 0;                 // Mean.
  double finished = 0;               // Share of runs.
  std::optional<double> p_deadline;  // Share of runs that met the deadline.
};

/// Requires at least one outcome.
RunSummary summary_of(const std::vector<RunOutcome>& outcomes, std::optional<Seconds> deadline);

/// Simulates runs, each with its own stream of the seed. Requires runs ≥ 1.
std::vector<RunOutcome> simulate_runs(const RunSetup& setup, int runs, std::uint64_t seed);

/// Replays runs that begin at random times of the trace. Requires runs ≥ 1.
std::vector<RunOutcome> replay_runs(const RunSetup& setup, const AvailabilityTrace& trace, int runs,
                                    std::uint64_t seed);

}  // namespace stint
