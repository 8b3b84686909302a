#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "risk/deadline_game.h"
#include "supervise/rehearsal_market.h"
#include "supervise/run_event.h"
#include "supervise/run_terms.h"

namespace stint {

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
  Dollars saving;    // Stalls for checkpoints.
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
  BillParts parts;         // Parts of the cost of the rehearsal.
  int losses = 0;          // Machines lost,
  int interruptions = 0;   // by so many interruptions.
  int happenings = 0;      // Events of the rehearsal.
  bool cut_short = false;  // More happened than a rehearsal follows; it counts as given up.
};

/// Runs the supervisor to the end, once. The same seed yields the same random events, machine by
/// machine, whatever the terms. Requires unfinished steps.
RehearsedRun rehearse_once(const RunTerms& terms, const RehearsalWorld& world,
                           const RunSoFar& so_far, std::uint64_t seed,
                           std::unique_ptr<DeadlinePolicy> policy);

}  // namespace stint
