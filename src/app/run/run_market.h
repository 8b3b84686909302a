#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/run/run_setup.h"
#include "base/random.h"
#include "supervise/rehearsal_run.h"

namespace stint {

/// How the spot market of the emulated cloud behaves in a run, and what is believed of it:
/// - "": machines stay;
/// - "hazard:60s": each stays an exponential time of that mean, and another is there at once;
/// - "spells:60s/20s": each place of the pool has a machine for times of the first mean and none
///   for times of the second, both exponential, drawn by the seed;
/// - "trace:FILE": an availability trace, played faster if the request says so; nothing is believed
///   of it unless the request does.
/// Usage errors for anything else, bad input for a trace that cannot be read.
Status set_market(const RunRequest& request, PreparedRun& run);

/// What one reads in "hazard:60s" and "spells:60s/20s".
Result<SpotSpells> parse_spells(const std::string& text, const char* option);

/// How many machines a pool of `places` has, drawn until `horizon`, or for about 100,000 changes.
std::vector<CapacityChange> draw_capacity(const SpotSpells& spells, int places, Seconds horizon,
                                          Random random);

}  // namespace stint
