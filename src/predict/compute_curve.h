#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "job/job.h"

namespace stint {

/// A time measured at several batch sizes, as a function of the batch that never falls.
///
/// Between measurements it is straight; measurements that fall where they should rise are pooled
/// (isotonic regression). Outside it follows the affine law
///
///   t(b) = a + c · b,  a ≥ 0, c ≥ 0, least squares on relative error
///
/// from the nearest measurement, and never goes below the floor a, where a device spends its time
/// on launching work, nor, below the smallest batch, below its time per sample. One measurement
/// t at a batch B cannot tell the two apart: a = s · t and c = (1 − s) · t/B, with the share s that
/// is given.
class BatchCurve {
 public:
  struct Point {
    double batch = 1;
    Seconds time;
    double weight = 1;
  };

  /// Requires at least one point, batches above zero, times not below zero and a share in [0, 1].
  explicit BatchCurve(std::vector<Point> points, double fixed_share = 0);

  Seconds at(double batch) const;
  Seconds floor() const { return floor_; }
  Seconds per_sample() const { return slope_; }

 private:
  std::vector<Point> points_;  // By batch, times not falling.
  Seconds floor_;
  Seconds slope_;
};

/// The share of forward and backward that does not depend on the batch, for jobs that were measured
/// at one batch: a prior, fitted by calibrate/batch_fit.h.
struct FixedShare {
  double mean = 0;
  double deviation = 0;
};

/// What one iteration of a worker takes on a device, by batch.
struct ComputeCurve {
  BatchCurve forward;
  BatchCurve backward;
  BatchCurve update;
  double batch_min = 1;   // Smallest batch that was measured,
  double batch_max = 1;   // and the largest.
  FixedShare share = {};  // What was assumed where the two are one.

  /// Nothing is known beyond twice the largest batch seen; whoever asks must say so.
  bool extrapolates(double batch) const { return batch > 2 * batch_max; }

  /// Smaller than any batch that was measured.
  bool below_measured(double batch) const { return batch < batch_min; }

  bool one_batch() const { return batch_min == batch_max; }

  /// Forward and backward.
  Seconds passes(double batch) const { return forward.at(batch) + backward.at(batch); }

  /// Deviation of the log of forward and backward at `batch` that comes from which batches were
  /// measured. With one batch B and r = b/B, t(b) = (s + (1 − s) r) · t(B), so that what is unsure
  /// of the share s makes
  ///
  ///   σ_s · |1 − r| / (s + (1 − s) r).
  ///
  /// Beyond twice the largest batch, and below half of the smallest of several, each doubling adds
  /// a tenth.
  double deviation(double batch) const;
};

/// The curves of `job` on `device`, with `share` for a job that has one batch there; an update does
/// not depend on the batch. A job without samples on the device is bad input that names the devices
/// it has.
Result<ComputeCurve> compute_curve(const JobProfile& job, std::string_view device,
                                   const FixedShare& share = {});

}  // namespace stint
