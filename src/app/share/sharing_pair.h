#pragma once

#include <span>

#include "interleave/pairing.h"
#include "plan/sharing.h"

namespace stint {

/// A time whose logarithm has this deviation.
TimeRange log_normal_time(Seconds mean, double deviation);

/// A pair in the form of an answer: its first option, and its saving. Requires an option.
SharingPair sharing_pair(std::span<const ShareJob> jobs, const PairJudged& pair,
                         const PairTerms& terms);

/// Two jobs in the form of an answer, whether they are a pair or not: all options, and separate
/// runs, one after the other on the cluster or each on its own.
SharingVerdict sharing_verdict(std::span<const ShareJob> jobs, const PairJudged& pair,
                               const PairTerms& terms);

}  // namespace stint
