#pragma once

#include <span>
#include <vector>

#include "base/codec_fields.h"
#include "base/random.h"
#include "base/units.h"
#include "risk/pool_model.h"

namespace stint {

/// The processes that generate the spells of a pool of one machine.
enum class PoolKind {
  kSteady,    // Log-normal, independent and identical.
  kDrifting,  // The law drifts.
  kDaily,     // Availability depends on the time of day.
  kRegimes,   // Alternates between calm and flapping.
  kPareto,    // Most spells are short, and some very long.
  kEchoing,   // A spell resembles the previous one.
  kClockwork  // Nearly periodic.
};

std::span<const EnumName<PoolKind>> names_of(PoolKind);

/// A log-normal law of the durations of spells.
struct SpellLaw {
  Seconds median;
  double spread = 1;  // Deviation of the logarithm.
};

struct SyntheticPool {
  PoolKind kind = PoolKind::kSteady;
  SpellLaw up;  // The base law of the kind; for a steady pool, the whole law.
  SpellLaw down;
  Seconds gap;
  std::vector<int> counts;  // 0 or 1 in each tick.
};

/// A random pool. Availability lies within 0.15 and 0.9, up-spells last 0.8 to 4.4 hours on average
/// and down-spells 0.5 to 5, with medians of 0.3 to 1.2 and 0.2 to 0.8 hours and each mean at least
/// 1.3 medians, as in GPU pools of AWS in 2022 (Wu et al., NSDI'24).
SyntheticPool synthetic_pool(PoolKind kind, Random random, Seconds gap, int ticks);

/// Random zones of one region: pools of a kind, each with its own law, which are all down for about
/// an hour about twice a day. One zone is a pool without such hours.
std::vector<SyntheticPool> synthetic_zones(PoolKind kind, int zones, const Random& random,
                                           Seconds gap, int ticks);

/// P(spell ends) by phase of a steady pool, from its law rather than from its ticks.
PoolModel law_of(const SyntheticPool& pool, int age_max);

}  // namespace stint
