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

/// When the state of a job is saved. A save that the end of the job would overtake is not begun.
struct SaveSchedule {
  /// After each of these stretches of the job's work, wherever losses fall.
  Seconds interval = kNever;

  /// Instead, where there are any: at these times after the gang has started or started again;
  /// after the last one, as far apart as the last two.
  std::vector<Seconds> begins = {};
};

/// Work in seconds of the undisturbed gang, and when it is saved.
struct SavedWork {
  Seconds work;
  SaveCost save;
  SaveSchedule schedule;
};

/// How far a job is.
struct TrainedWork {
  Seconds work;
  Seconds stalled;     // By the saves on the way.
  Seconds stall_left;  // Of a save that was interrupted.
  int saves = 0;       // Begun, of those by work; or since the start, of those by time.
};

/// What a gang does between a start and the next loss, or the end of the job.
struct Stretch {
  Seconds time;
  TrainedWork end;
  TrainedWork safe;  // The last state that a loss without notice leaves.
  bool done = false;
};

/// Trains from a safe state until `limit` has passed or the job is done. Requires saves that are
/// safe before the next begins.
Stretch train(const SavedWork& job, const TrainedWork& from, Seconds limit);

/// Equal machines of a gang.
struct RunGroup {
  Market market = Market::kSpot;
  SpotPool pool;  // Its count is that of the group; an on-demand group has only that.
  DollarsPerSecond price;
  DollarsPerSecond price_on_demand;  // Of what takes the place of a spot machine.
};

/// A training run, all of whose machines must be there to train.
struct RunSetup {
  std::vector<RunGroup> groups;
  SavedWork job;
  double exposed_communication = 0;  // Share of the work, for the bill.
  double without_notice = 1;         // Share of losses before which no save is possible.
  RandomTime start_up;               // Of machines that are started together; lognormal.
  std::optional<Seconds> patience;   // For a spot machine, before one on demand takes its place.
  bool lost_while_waiting = true;    // Else machines do not age while the gang waits.
  DollarsPerSecond anchors;          // Machines that only keep checkpoints, paid all the time.
  DollarsPerSecond storage;
};

/// How a run went.
struct RunOutcome {
  Seconds time;
  bool finished = true;  // Else it was given up after kWorkTimesMax times its work.
  Bill bill;
  int losses = 0;         // Times the gang stopped or had to wait longer.
  int machines_lost = 0;  // Over all of them.
};

/// Plays a run against a supply of machines.
///
/// The gang starts when the last machine has started up, and stops at each loss. The lost machines
/// are replaced from spot, or on demand when their patience is over; then all restore the last safe
/// state. A loss with notice leaves the state as it was. Everyone who is there is paid: machines
/// that start up or restore as set-up, those that wait for others as idle, and time of which
/// nothing is left as work redone, with the stalls in it. Checkpoints stay in their region, so
/// there is no egress.
RunOutcome play_run(const RunSetup& setup, const SpotSupply& supply, Random random);

/// With lives sampled from the hazards of the groups.
RunOutcome simulate_run(const RunSetup& setup, Random random);

/// Against a trace from `start` on: it counts what the only spot group can have.
RunOutcome replay_run(const RunSetup& setup, const AvailabilityTrace& trace, Seconds start,
                      Random random);

/// Mean and quantiles of a quantity over runs.
template <class Quantity>
struct RunSpread {
  Quantity mean;
  Quantity p10;
  Quantity p50;
  Quantity p90;
  Quantity standard_error;  // Of the mean.
};

struct RunSummary {
  int runs = 0;
  RunSpread<Seconds> time;
  RunSpread<Dollars> cost;
  Bill bill;                         // Mean; its parts add up to the mean cost.
  double losses = 0;                 // Mean.
  double finished = 0;               // Share.
  std::optional<double> p_deadline;  // Share of runs that were done by then.
};

/// Requires at least one outcome.
RunSummary summary_of(const std::vector<RunOutcome>& outcomes, std::optional<Seconds> deadline);

/// Simulates runs, each with its own stream of the seed. Requires runs ≥ 1.
std::vector<RunOutcome> simulate_runs(const RunSetup& setup, int runs, std::uint64_t seed);

/// Replays runs that begin at random times of the trace. Requires runs ≥ 1.
std::vector<RunOutcome> replay_runs(const RunSetup& setup, const AvailabilityTrace& trace, int runs,
                                    std::uint64_t seed);

}  // namespace stint
