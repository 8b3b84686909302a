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

/// The world of a simulated run. Times are the real ones, where the terms have the planned ones.
struct RehearsalWorld {
  PerSecond loss;                  // Of a spot machine that is there, at any moment.
  Seconds notice;                  // Before an interruption.
  Seconds launch = 40 * kSecond;   // From asking for a machine until it is up,
  Seconds join = 20 * kSecond;     // until one or two workers that are new train,
  Seconds join_more = {};          // and each beyond that longer,
  Seconds regroup = 10 * kSecond;  // and until those that were there do;
  Seconds hand_over = {};          // beside newcomers so much longer.
  Seconds save = 10 * kSecond;     // Until a checkpoint is safe,
  Seconds save_order = {};         // of which so long until workers obey; at the end they wait.
  Seconds save_stall;              // Training stands still for it.
  Seconds farewell = {};           // From the last step until the scripts end and the VMs go.
  double slowness = 1;             // Steps take so many times what was predicted, on average,
  double slowness_deviation = 0;   // with this standard deviation between runs (log-normal),
  double step_noise = 0;           // and this one between steps.

  /// Capacity of spot machines: as told, else in spells of these means (exponential) in which all
  /// or none are there, else always.
  std::vector<CapacityChange> capacity = {};
  std::optional<Seconds> plenty = {};
  Seconds dearth = {};
};

/// A machine that a run holds already.
struct HeldMachine {
  int slot = 0;
  Market market = Market::kOnDemand;
};

/// Where a run stands from which the rest is played.
struct RunSoFar {
  Seconds now;
  std::int64_t steps = 0;  // Done, none of which is lost.
  Dollars cost;
  std::vector<HeldMachine> machines = {};
  bool plain = false;            // The script takes no orders (RunTerms::plain),
  std::int64_t unsaved = 0;      // has made so many more steps, which it does again after a loss,
  std::int64_t saves_every = 0;  // and saves each so many; 0: never.
};

/// What machines were paid for.
struct BillParts {
  Dollars training;  // Steps that counted.
  Dollars redone;    // Steps that were lost and done again.
  Dollars starting;  // Until a machine trains for the first time.
  Dollars standing;  // Between.
  Dollars keeping;   // Machines that hold checkpoints.
};

/// How a rehearsal ended. Time and cost count from the beginning of the run.
struct RehearsedRun {
  RunVerdict outcome = RunVerdict::kGaveUp;
  Seconds time;
  Dollars cost;
  BillParts parts;  // Of what was paid in the rehearsal.
  int losses = 0;
};

/// Plays the supervisor to the end, once. The same seed brings the same chances, machine by
/// machine, whatever the terms. Requires more steps than are done.
RehearsedRun rehearse_once(const RunTerms& terms, const RehearsalWorld& world,
                           const RunSoFar& so_far, std::uint64_t seed,
                           std::unique_ptr<DeadlinePolicy> policy);

}  // namespace stint
