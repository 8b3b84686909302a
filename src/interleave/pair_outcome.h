#pragma once

#include <array>

#include "base/units.h"

namespace stint {

/// How much of a job is to be trained, and what an iteration of it takes.
struct SharedWork {
  double iterations = 1;
  Seconds alone;   // On the same VMs without the other job, with its normal overlap.
  Seconds shared;  // While the other job is there: the period over its turns in it.
};

/// What becomes of two jobs that begin together on the same VMs. When the first is done, the other
/// goes on alone.
struct PairOutcome {
  std::array<Seconds, 2> end;      // Of each job, from the common start.
  std::array<double, 2> slowdown;  // Of each until its end, over being alone from the start.
  Seconds together;                // How long both were there.
  Seconds makespan;                // Until both are done.
  Seconds separate;                // The sum of both alone: what separate VMs are paid for.

  /// How much sooner both are done than one after the other, each with its normal overlap. Since
  /// the VMs are paid for by time, it is also how much less they cost than separate ones.
  double speedup() const { return separate / makespan; }
};

/// With N iterations of A and B that take aᵢ alone and bᵢ shared:
///
///   together = min(NA bA, NB bB)
///   end_i    = together + (Nᵢ − together / bᵢ) · aᵢ
///
/// Requires iterations ≥ 0 and times above zero.
PairOutcome pair_outcome(const SharedWork& first, const SharedWork& second);

}  // namespace stint
