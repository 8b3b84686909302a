#pragma once

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "job/job.h"

namespace stint {

/// The middle of the values, or the mean of the two in the middle. Requires one at least.
template <class T>
T median_of(std::vector<T> values) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  return 0.5 * values[half - 1] + 0.5 * values[half];
}

/// To the nanosecond, so that profiles read like measurements.
Seconds to_nanosecond(Seconds time);

/// To four digits, as a profile is written: 12.35 ms.
Seconds profile_time(Seconds time);

/// Both times of a timing as a profile is written.
Timing profile_timing(Timing timing);

/// The median and 1.4826 × the median deviation, which is the deviation of normal errors. Requires
/// one time or more.
Timing timing_of(std::vector<Seconds> times);

}  // namespace stint
