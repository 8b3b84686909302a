#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A Chrome trace of the recorded turns of runs that share machines, from the logs of their
/// workers: a row for each run on each machine, and times since the first turn. Without turns it
/// has no events. Bad input: a line that is not a turn; a truncated last line is skipped.
Result<std::string> turn_trace(const std::vector<std::string>& run_folders);

/// A job at a turnstile.
struct TurnstileMember {
  std::string run;
  std::string state;  // absent, idle, waiting or holding,
  Seconds since;      // time in that state, if waiting or holding.
  std::int64_t turns = 0;
  Seconds held;
  Seconds waited;
};

/// The turnstile of a machine.
struct TurnstileStanding {
  std::string vm;
  std::int64_t deaths = 0;  // Processes that ended while they held it or waited.
  std::vector<TurnstileMember> members;
};

/// The turnstiles in the folder of a cluster that runs share, by machine. Unreadable ones, such as
/// one that is being made, are left out.
std::vector<TurnstileStanding> turnstiles_in(const std::string& folder);

}  // namespace stint
