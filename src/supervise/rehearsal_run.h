#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "risk/deadline_game.h"
#include "risk/hazard.h"
#include "supervise/run_event.h"
#include "supervise/run_terms.h"

namespace stint {

/// The spot capacity from some time on.
struct CapacityChange {
  Seconds at;  // Since the run began.
  int machines = 0;
};

/// The world of a simulated run. Times are the real ones, whereas the terms have the planned ones.
struct RehearsalWorld {
  PerSecond loss;                  // Loss rate of a spot machine that is up.
  Seconds notice;                  // Spot interruption notice.
  Seconds launch = 40 * kSecond;   // From the request of a machine until it is up,
  Seconds join = 20 * kSecond;     // until one or two new workers train,
  Seconds join_more = {};          // and the extra time of each further one,
  Seconds regroup = 10 * kSecond;  // and until the surviving workers train;
  Seconds hand_over = {};          // extra time of these beside new workers.
  Seconds save = 10 * kSecond;     // Until a checkpoint is safe,
  Seconds save_order = {};  // of which until workers obey the order; at the end they wait for it.
  Seconds save_stall;       // Stall of training for a checkpoint.
  Seconds shutdown = {};    // From the last step until the scripts end and the VMs are released.
  double slowness = 1;      // Mean of step time over predicted step time,
  double slowness_deviation = 0;  // its standard deviation between runs (log-normal),
  double step_noise = 0;          // and its standard deviation between steps.

  /// Capacity of spot machines: as listed, else in spells of these means (exponential) in which all
  /// or none are available, else unlimited.
  std::vector<CapacityChange> capacity = {};
  std::optional<Seconds> plenty = {};
  Seconds dearth = {};
};

/// A machine that a run already holds.
struct HeldMachine {
  int slot = 0;
  Market market = Market::kOnDemand;
};

/// The state of a run from which the rest is simulated.
struct RunSoFar {
  Seconds now;
  std::int64_t steps = 0;  // Steps done, none of which can be lost.
  Dollars cost;
  std::vector<HeldMachine> machines = {};
  bool plain = false;            // The script takes no orders (RunTerms::plain),
  std::int64_t unsaved = 0;      // has made this many further steps, which it repeats after a loss,
  std::int64_t saves_every = 0;  // and saves at this interval of steps; 0: never.
};

/// The cost of machines by use.
struct BillParts {
  Dollars training;  // Steps that counted.
  Dollars redone;    // Steps that were lost and repeated.
  Dollars starting;  // Until a machine trains for the first time.
  Dollars standing;  // Pauses between.
  Dollars keeping;   // Machines that hold checkpoints.
};

/// The outcome of a rehearsal. Time and cost count from the start of the run.
struct RehearsedRun {
  RunVerdict outcome = RunVerdict::kGaveUp;
  Seconds time;
  Dollars cost;
  BillParts parts;  // Parts of the cost of the rehearsal.
  int losses = 0;
  int happenings = 0;      // Events of the rehearsal.
  bool cut_short = false;  // More happened than a rehearsal follows; it counts as given up.
};

/// Runs the supervisor to the end, once. The same seed yields the same random events, machine by
/// machine, whatever the terms. Requires unfinished steps.
RehearsedRun rehearse_once(const RunTerms& terms, const RehearsalWorld& world,
                           const RunSoFar& so_far, std::uint64_t seed,
                           std::unique_ptr<DeadlinePolicy> policy);

}  // namespace stint
