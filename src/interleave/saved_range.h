#pragma once

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

}  // namespace stint
