#pragma once

#include <optional>

#include "base/codec_fields.h"
#include "base/units.h"
#include "risk/cluster_table.h"

namespace stint {

/// How long spot machines are believed to stay, and how long one that went is missing.
struct SpotSpells {
  Seconds stay;
  std::optional<Seconds> away = {};  // Absent: another one is there at once.
  Json::Object unknown = {};
};

/// What a policy knows of the spot market before it has seen any of it, in ticks of `tick`: a pool
/// in which each of `places` has a machine for as long, and has none for as long, as `expected`
/// says; without it, or where another machine is there at once, one that is always full.
CountBelief spot_belief(const std::optional<SpotSpells>& expected, Seconds tick, int places);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, SpotSpells>& it) {
  walk.number("stay_s", it.stay, kSecond, "Mean time from launch to interruption.",
              Range::kPositive);
  walk.number("away_s", it.away, kSecond, "Mean time until a spot VM is available again.",
              Range::kPositive);
  walk.rest(it.unknown);
}

}  // namespace stint
