#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "catalog/market.h"

namespace stint {

/// Words for the sentences that a run tells its user.
std::string rounded(Seconds time);       // "45 s", "2 min", "3 h 20 min".
std::string vm_name(int vm);             // The name of machine 0 is "vm1".
std::string counted(int count);          // "1 machine", "3 machines".
std::string market_name(Market market);  // "a spot machine", "an on-demand machine".

/// A place for a machine in the cluster of a plan.
struct RunSlot {
  std::string type = {};              // Of the machine; a new plan keeps those whose type it has.
  bool trains = true;                 // Else it holds checkpoints, on demand; none are saved
                                      // without it.
  Market market = Market::kOnDemand;  // That the plan wants.
  DollarsPerSecond spot;
  DollarsPerSecond on_demand;
};

/// Seconds of a training step on the machines of these slots, all of them in step; infinite where
/// these cannot train without the others.
using StepTime = std::function<Seconds(std::span<const int> slots)>;

/// What a run has to do, and what was predicted of it.
struct RunTerms {
  std::vector<RunSlot> slots;
  int machines_min = 1;  // With fewer that train it waits.
  std::int64_t steps = 1;
  StepTime step_time;
  double slower = 1.25;  // A step may take this much more than predicted, by its interval.
  double faster = 0.8;   // Or less.
  Seconds save_every = 10 * kMinute;
  Seconds save_time = 10 * kSecond;  // From the request until it is safe.
  Seconds start_up = 60 * kSecond;   // From asking for a machine until it trains.
  Seconds regroup = 10 * kSecond;    // Training stands still for a change of machines.
  Seconds tick = 1 * kMinute;        // Between two decisions about markets.
  std::optional<Seconds> deadline = {};
  std::optional<Dollars> budget = {};
  /// Whether the script is believed to take no orders: it is trained when it ends well, restarts on
  /// all machines after each change, and only what it saves by itself is kept. Events say what it
  /// is.
  bool plain = false;
  Seconds hang = 5 * kMinute;     // A plain script that makes no step for so long hangs.
  bool replans = true;            // Whether anybody makes a new plan when it is asked for.
  int failures_max = 5;           // Workers may fail so often without newly saved progress.
  Seconds patience = 24 * kHour;  // Without a new checkpoint.
};

/// The slots that train.
std::vector<int> training_slots(const RunTerms& terms);

/// The same function, which is asked but once for the same slots.
StepTime remembered(StepTime step_time);

}  // namespace stint
