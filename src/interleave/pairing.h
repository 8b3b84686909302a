#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "interleave/pair_options.h"

namespace stint {

/// What the option saves, with its interval, in time of the cluster. Communication of each job is
/// unsure by as much as makes its iteration as unsure as it is predicted to be, and computing too
/// where it was not measured; and so are its iterations: the option's saving with each of them one
/// deviation longer and shorter tells what each adds to the variance. How the jobs happen to meet
/// adds to it, too.
///
/// Where it is not known how much communication hides behind a job's computing, the interval holds
/// both extremes (NetworkWhile), each with what else is unsure: nobody knows how likely anything
/// between them is.
TimeRange saved_range(const ShareJob& first, const ShareJob& second, const PairOption& option,
                      const PairTerms& terms);

/// Two jobs of a list, by number, and what they may do.
struct PairJudged {
  std::size_t first = 0;
  std::size_t second = 0;
  PairVerdict verdict;
};

/// Every two of `jobs`, each judged by itself.
std::vector<PairJudged> judge_pairs(std::span<const ShareJob> jobs, const PairTerms& terms);

/// Dollars as a matching weighs them: whole micro-dollars, as far as the solver goes.
std::int64_t matching_weight(Dollars saved);

/// Which jobs share machines.
struct Pairing {
  std::vector<PairJudged> pairs;   // That are put together, each by its first option.
  std::vector<std::size_t> alone;  // The others.
  Seconds separate;                // Time of clusters when none are put together, and
  Seconds shared;                  // as they are.
};

/// The pairing that saves most among all that put no refused pair together: a maximum-weight
/// matching. A cluster costs the same whoever is on it, so that time of it is weighed as money:
/// whole micro-dollars at `rate`, or at a dollar per hour where it is not known.
Result<Pairing> best_pairing(std::span<const ShareJob> jobs, std::span<const PairJudged> judged,
                             const ShareCluster& cluster);

/// What jobs come to when they are put together like that. Requires pairs of different jobs with
/// an option each.
Pairing pairing_of(std::span<const ShareJob> jobs, std::vector<PairJudged> pairs);

}  // namespace stint
