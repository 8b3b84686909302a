#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A Chrome trace of the turns that runs which share machines really had, from what their workers
/// noted: a row for each run on each machine, and times since the first turn. Without turns, one
/// with no events. Bad input: a line that is no turn; a last one that was cut off is left out.
Result<std::string> turn_trace(const std::vector<std::string>& run_folders);

/// A job at a turnstile.
struct TurnstileMember {
  std::string run;
  std::string state;  // absent, idle, waiting or holding,
  Seconds since;      // if waiting or holding, for so long.
  std::int64_t turns = 0;
  Seconds held;
  Seconds waited;
};

/// The turnstile of a machine.
struct TurnstileStanding {
  std::string vm;
  std::int64_t deaths = 0;  // Of processes that held it or waited.
  std::vector<TurnstileMember> members;
};

/// The turnstiles in the folder of a cluster that runs share, by machine. What cannot be read, such
/// as one that is being made, is left out.
std::vector<TurnstileStanding> turnstiles_in(const std::string& folder);

}  // namespace stint
