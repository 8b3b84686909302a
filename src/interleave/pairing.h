#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "interleave/pair_options.h"

namespace stint {

/// The saving of the option, with its interval, in time of the cluster. The uncertainty of each
/// job's communication is the one that explains the predicted uncertainty of its iteration; its
/// computing is uncertain too where it was not measured, and so are its iterations. The option's
/// saving with each of them one deviation longer and shorter gives its part of the variance. The
/// phase in which the jobs meet adds to it.
///
/// Where it is not known how much communication hides behind a job's computing, the interval covers
/// both extremes (NetworkWhile), each with the other uncertainties, because the probability of the
/// cases between them is unknown.
TimeRange saved_range(const ShareJob& first, const ShareJob& second, const PairOption& option,
                      const PairTerms& terms);

/// Two jobs of a list, by number, and their options.
struct PairJudged {
  std::size_t first = 0;
  std::size_t second = 0;
  PairVerdict verdict;
};

/// Every two of `jobs`, each pair assessed alone.
std::vector<PairJudged> judge_pairs(std::span<const ShareJob> jobs, const PairTerms& terms);

/// Dollars as weights of a matching: whole micro-dollars, up to the limit of the solver.
std::int64_t matching_weight(Dollars saved);

/// The jobs that share machines.
struct Pairing {
  std::vector<PairJudged> pairs;   // Pairs that share, each by its first option.
  std::vector<std::size_t> alone;  // The others.
  Seconds separate;                // Time of clusters without sharing, and
  Seconds shared;                  // with it.
};

/// The pairing that saves most among all without a refused pair: a maximum-weight matching. A
/// cluster costs the same for any job, so that its time is weighed as money: whole micro-dollars at
/// `rate`, or at a dollar per hour where it is not known.
Result<Pairing> best_pairing(std::span<const ShareJob> jobs, std::span<const PairJudged> judged,
                             const ShareCluster& cluster);

/// The result of a given pairing. Requires pairs of different jobs with an option each.
Pairing pairing_of(std::span<const ShareJob> jobs, std::vector<PairJudged> pairs);

}  // namespace stint
