#pragma once

#include <span>

#include "interleave/pairing.h"
#include "plan/sharing.h"

namespace stint {

/// A time whose logarithm has this deviation.
TimeRange log_normal_time(Seconds mean, double deviation);

/// A pair as an answer states it: its first option, and what that saves. Requires an option.
SharingPair sharing_pair(std::span<const ShareJob> jobs, const PairJudged& pair,
                         const PairTerms& terms);

/// Two jobs as an answer states them, whether they are a pair or not: all options, and being
/// separate, one after the other on the cluster or each on one of its own.
SharingVerdict sharing_verdict(std::span<const ShareJob> jobs, const PairJudged& pair,
                               const PairTerms& terms);

}  // namespace stint
