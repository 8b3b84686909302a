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

/// A measured run with everything looked up. The job must outlive it.
struct BucketRow {
  const JobProfile* job = nullptr;
  ResolvedJob resolved;
  Seconds time;
};

/// The sum of a probe of the network with everything looked up.
struct ReductionRow {
  int vms = 2;
  BytesPerSecond slowest;  // Of their NICs.
  BytesPerSecond total;    // Of all of them together.
  Bytes bytes;
  Seconds time;
  double deviation = 0;  // Of ln time, over its repetitions.
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
  BytesPerSecond total_rate;  // The largest sum of a cluster's NICs.
  // ln(predicted / measured) of each run, then of each sum, clusters of its size left out.
  std::vector<double> errors = {};
};

/// Seconds of an iteration of the row under the law.
Seconds bucket_time(const BucketRow& row, const BucketLaw& law);

/// A ring over the VMs of a probe.
Seconds reduction_time(const ReductionRow& row, const BucketLaw& law);

/// Fits by least squares on log time, around the constants of `priors` (see bucket_law.h): plain
/// beliefs, or a calibration that was fitted before, into which the rows are then folded with all
/// that it knows. The noise is what clusters of a size were off when the others were fitted without
/// them; with one size, what all were off. The floor stays the prior's:
///
///   exposed² = max(floor², Σ (r² − floor² − deviation²) / Σ e²),  e = exposed communication / T
///
/// and is pooled with that of `priors` by the rows of both. Bad input without rows, or when a
/// constant is missing.
Result<BucketFit> fit_buckets(const BucketRows& rows, const Calibration& priors);

/// As a document, without name, date, data and accuracy; units are those of `priors`.
Calibration to_calibration(const BucketFit& fit, const Calibration& priors);

}  // namespace stint
