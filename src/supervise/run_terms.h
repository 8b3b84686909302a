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

/// Phrases of the messages of a run.
std::string rounded(Seconds time);       // "45 s", "2 min", "3 h 20 min".
std::string vm_name(int vm);             // The name of machine 0 is "vm1".
std::string counted(int count);          // "1 machine", "3 machines".
std::string market_name(Market market);  // "a spot machine", "an on-demand machine".

/// A place for a machine in the cluster of a plan.
struct RunSlot {
  std::string type = {};  // VM type; a new plan keeps machines whose type it has.
  bool trains = true;     // Else it holds checkpoints, on demand; none are saved without it.
  Market market = Market::kOnDemand;  // Market that the plan asks for.
  DollarsPerSecond spot;
  DollarsPerSecond on_demand;
};

/// Time of a training step on the machines of these slots, in lockstep; infinite where these cannot
/// train without the others.
using StepTime = std::function<Seconds(std::span<const int> slots)>;

/// The work of a run and the predictions about it.
struct RunTerms {
  std::vector<RunSlot> slots;
  int machines_min = 1;       // With fewer that train the run waits.
  int machines_multiple = 1;  // As many hold one replica of the model; others are left idle.
  std::int64_t steps = 1;
  StepTime step_time;
  /// Whether a spot machine that cannot be had is replaced on demand, until it can be had again.
  /// With a deadline policy, the policy decides.
  bool fills_up = false;
  double slower = 1.25;  // Upper end of the interval of step time over predicted step time,
  double faster = 0.8;   // and its lower end.
  Seconds save_every = 10 * kMinute;
  Seconds save_time = 10 * kSecond;  // From the request until it is safe.
  Seconds start_up = 60 * kSecond;   // From the request of a machine until it trains.
  Seconds regroup = 10 * kSecond;    // Pause of training for a change of machines.
  Seconds tick = 1 * kMinute;        // From one decision about markets to the next.
  std::optional<Seconds> deadline = {};
  std::optional<Dollars> budget = {};
  /// Whether the script is believed to take no orders: training is complete when it ends with
  /// success, it restarts on all machines after each change, and only its own checkpoints are kept.
  /// Events establish whether it does.
  bool plain = false;
  Seconds hang = 5 * kMinute;     // Time without a step after which a plain script counts as hung.
  bool replans = true;            // Whether requests for a new plan are answered.
  int failures_max = 5;           // Failures of workers without newly saved progress.
  Seconds patience = 24 * kHour;  // Longest time without a new checkpoint.
};

/// The slots that train.
std::vector<int> training_slots(const RunTerms& terms);

/// The same function with a cache, evaluated once for the same slots.
StepTime remembered(StepTime step_time);

}  // namespace stint
