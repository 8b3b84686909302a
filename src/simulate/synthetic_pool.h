#pragma once

#include <span>
#include <vector>

#include "base/codec_fields.h"
#include "base/random.h"
#include "base/units.h"
#include "risk/pool_model.h"

namespace stint {

/// How the spells of a pool of one machine come about.
enum class PoolKind {
  kSteady,    // Log-normal, one like the other.
  kDrifting,  // The law wanders.
  kDaily,     // More is there at one time of the day than at another.
  kRegimes,   // Calm for a while, then flapping.
  kPareto,    // Most are short, and some very long.
  kEchoing,   // A spell resembles the one before.
  kClockwork  // Nearly periodic.
};

std::span<const EnumName<PoolKind>> names_of(PoolKind);

/// A log-normal law of how long spells last.
struct SpellLaw {
  Seconds median;
  double spread = 1;  // Of the logarithm.
};

struct SyntheticPool {
  PoolKind kind = PoolKind::kSteady;
  SpellLaw up;  // What the kind plays upon; of a steady pool, all there is to know.
  SpellLaw down;
  Seconds gap;
  std::vector<int> counts;  // 0 or 1 in each tick.
};

/// A pool drawn by chance. Availability lies within 0.15 and 0.9, up-spells last 0.8 to 4.4 hours
/// on average and down-spells 0.5 to 5, with medians of 0.3 to 1.2 and 0.2 to 0.8 hours and each
/// mean at least 1.3 medians: what GPU pools of AWS showed in 2022 (Wu et al., NSDI'24).
SyntheticPool synthetic_pool(PoolKind kind, Random random, Seconds gap, int ticks);

/// Zones of one region drawn by chance: pools of a kind, each with its own law, which are all gone
/// for an hour or so about twice a day. One zone is a pool without such hours.
std::vector<SyntheticPool> synthetic_zones(PoolKind kind, int zones, const Random& random,
                                           Seconds gap, int ticks);

/// P(spell ends) by phase of a steady pool, from its law rather than from its ticks.
PoolModel law_of(const SyntheticPool& pool, int age_max);

}  // namespace stint
