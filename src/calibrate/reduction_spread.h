#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace stint {

/// Times of one sum over the same VMs, by round, and what it was expected to take.
struct ReductionTimes {
  std::vector<std::vector<Seconds>> rounds;
  Seconds expected;
  bool pair = false;  // Over two VMs, to compare pairs.
};

/// How much sums vary, as relative deviations.
struct ReductionSpread {
  std::optional<double> repeats;  // From one to the next; absent where none was repeated.
  std::optional<double> time;     // From one round to another; absent with one round.
  std::optional<double> pairs;    // From one pair of VMs to another; absent with one pair.
};

/// Takes the variance of y = ln(time / expected) apart, each stage freed of what the stages below
/// it add to a mean (nested analysis of variance):
///
///   repeats² = Σ (y − round mean)² / Σ (n − 1)
///   time²    = pooled variance of round means in a sum − repeats² / n
///   pairs²   = variance of the means of pairs − time² / rounds − repeats² / (rounds · n)
///
/// n is the mean number of times per round; what comes out below zero is zero. Requires a time in
/// every round and a round in every sum.
ReductionSpread spread_of(const std::vector<ReductionTimes>& sums);

}  // namespace stint
