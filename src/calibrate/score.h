#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/units.h"
#include "plan/validation.h"

namespace stint {

/// A measured row and its prediction.
struct Scored {
  std::string job;
  std::optional<Seconds> predicted;  // Absent: no prediction was possible.
  std::optional<Seconds> measured;   // Absent: the measurement cannot be used.
  std::optional<Seconds> p10;        // An interval has both ends or none.
  std::optional<Seconds> p90;
  // Instead of a measurement: a lower bound of the time. The prediction is right if the interval
  // reaches past it.
  std::optional<Seconds> longer_than = {};
};

/// The value below which `share` of `sorted` lies, interpolated linearly. Requires a value.
double quantile(std::span<const double> sorted, double share);

/// The errors of `rows`; rows without a prediction or a measurement count as skipped, but those
/// with a lower bound count in the coverage. The interval score is the mean over rows with an
/// interval [l, u] and measurement y of
///
///   ((u − l) + 2/α · max(l − y, 0) + 2/α · max(y − u, 0)) / y,  α = 0.2
///
/// (Gneiting and Raftery 2007, eq. 43), over y so that jobs compare. Quantiles interpolate
/// linearly. Requires measurements above zero.
Score score(std::span<const Scored> rows);

std::map<std::string, Score> score_by_job(std::span<const Scored> rows);

/// The unweighted mean of each figure over the jobs that have it; `n` and `skipped` are sums.
Score mean_over(const std::map<std::string, Score>& jobs);

}  // namespace stint
