#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "predict/bucket_law.h"
#include "predict/resolve.h"
#include "solver/least_squares.h"

namespace stint {

/// Times of one all-reduce over the same VMs, by round, and its expected time.
struct ReductionTimes {
  std::vector<std::vector<Seconds>> rounds;
  Seconds expected;
  bool pair = false;  // Over two VMs, to compare pairs.
};

/// The variation of all-reduces, as relative deviations.
struct ReductionSpread {
  std::optional<double> repeats;  // From one to the next; absent without repeats.
  std::optional<double> time;     // From one round to another; absent with one round.
  std::optional<double> pairs;    // From one pair of VMs to another; absent with one pair.
};

/// The components of the variance of y = ln(time / expected), each stage without the contribution
/// of the stages below it to a mean (nested analysis of variance):
///
///   repeats² = Σ (y − round mean)² / Σ (n − 1)
///   time²    = pooled variance of round means in a sum − repeats² / n
///   pairs²   = variance of the means of pairs − time² / rounds − repeats² / (rounds · n)
///
/// n is the mean number of times per round; a negative result is zero. Requires a time in every
/// round and a round in every all-reduce.
ReductionSpread spread_of(const std::vector<ReductionTimes>& sums);

/// A measured run with all its inputs resolved. The job must outlive it.
struct BucketRow {
  const JobProfile* job = nullptr;
  ResolvedJob resolved;
  Seconds time;
};

/// The all-reduce of a probe of the network with all its inputs resolved.
struct ReductionRow {
  int vms = 2;
  BytesPerSecond slowest;  // Rate of the slowest NIC.
  BytesPerSecond total;    // Total rate of all NICs.
  Bytes bytes;
  Seconds time;
  double deviation = 0;  // Deviation of ln time over its repetitions.
};

struct BucketRows {
  std::vector<BucketRow> runs;
  std::vector<ReductionRow> reductions = {};

  std::size_t size() const { return runs.size() + reductions.size(); }
};

/// A law fitted to rows.
struct BucketFit {
  BucketLaw law;
  Fitted solution;         // In the order of law_names.
  double noise_floor = 0;  // As in CalibratedBuckets.
  double noise_exposed = 0;
  BytesPerSecond total_rate;  // The largest total rate of a cluster's NICs.
  // ln(predicted / measured) of each run, then of each all-reduce, clusters of its size held out.
  std::vector<double> errors = {};
};

/// Seconds of an iteration of the row under the law.
Seconds bucket_time(const BucketRow& row, const BucketLaw& law);

/// A ring over the VMs of a probe.
Seconds reduction_time(const ReductionRow& row, const BucketLaw& law);

/// Fits by least squares on log time, around the constants of `priors` (see bucket_law.h): plain
/// priors, or an earlier calibration, which the rows then update with its full posterior. The noise
/// is the error on clusters of a size when the others were fitted without them; with one size, the
/// error of all. The floor stays the prior's:
///
///   exposed² = max(floor², Σ (r² − floor² − deviation²) / Σ e²),  e = exposed communication / T
///
/// and is pooled with that of `priors` by the rows of both. Bad input without rows, or when a
/// constant is missing.
Result<BucketFit> fit_buckets(const BucketRows& rows, const Calibration& priors);

/// The law as a document, without name, date, data and accuracy; units are those of `priors`.
Calibration to_calibration(const BucketFit& fit, const Calibration& priors);

}  // namespace stint
