#pragma once

#include <cstdint>
#include <string>

#include "cloud/cluster_spec.h"

namespace stint {

/// Gives the spot VMs of `spec` their lives; those on demand live on. `life` is
/// - "" or "until-down": nothing is taken back by itself;
/// - "hazard:30m": each lives an exponential time of that mean, by `seed`;
/// - "trace:FILE": an availability trace from its first tick on; when it has fewer machines than
///   still live, the last of them are taken back.
/// Usage errors for anything else, bad input for a trace that cannot be read.
Status set_lives(ClusterSpec& spec, const std::string& life, std::uint64_t seed);

}  // namespace stint
