#pragma once

#include <optional>

#include "base/codec_fields.h"
#include "base/units.h"
#include "risk/cluster_table.h"

namespace stint {

/// Mean time that spot machines stay up, and mean time until a lost one can be replaced.
struct SpotSpells {
  Seconds stay;
  std::optional<Seconds> away = {};  // Absent: a lost machine can be replaced at once.
  Json::Object unknown = {};
};

/// The prior of a policy about the spot market, in ticks of `tick`: a pool in which each of
/// `places` is up and down for the times of `expected`; without it, or where a lost machine can be
/// replaced at once, a pool that is always full.
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
