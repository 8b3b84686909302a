#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/calibration.h"
#include "predict/bucket_law.h"
#include "predict/resolve.h"
#include "solver/least_squares.h"

namespace stint {

/// A measured run with everything looked up. The job must outlive it.
struct BucketRow {
  const JobProfile* job = nullptr;
  ResolvedJob resolved;
  Seconds time;
};

/// A law fitted to runs.
struct BucketFit {
  BucketLaw law;
  Fitted solution;         // In the order of law_names.
  double noise_floor = 0;  // As in CalibratedBuckets.
  double noise_exposed = 0;
  BytesPerSecond total_rate;        // The largest sum of a cluster's NICs.
  std::vector<double> errors = {};  // ln(predicted / measured) of each row, its size left out.
};

/// Seconds of an iteration of the row under the law.
Seconds bucket_time(const BucketRow& row, const BucketLaw& law);

/// Fits by least squares on log time, around the constants of `priors` (see bucket_law.h). The
/// noise is what clusters of a size were off when the others were fitted without them; with one
/// size, what all were off. The floor stays the prior's:
///
///   exposed² = max(prior floor², Σ (r² − floor²) / Σ e²),  e = exposed communication / T
///
/// Bad input without rows, or when a constant is missing.
Result<BucketFit> fit_buckets(const std::vector<BucketRow>& rows, const Calibration& priors);

/// As a document, without name, date, data and accuracy; units are those of `priors`.
Calibration to_calibration(const BucketFit& fit, const Calibration& priors);

}  // namespace stint
