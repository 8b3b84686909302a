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
/// on launching work, nor, below the smallest batch, below its time per sample. One measurement alone is taken as proportional, a = 0.
class BatchCurve {
 public:
  struct Point {
    double batch = 1;
    Seconds time;
    double weight = 1;
  };

  /// Requires at least one point, batches above zero and times not below zero.
  explicit BatchCurve(std::vector<Point> points);

  Seconds at(double batch) const;
  Seconds floor() const { return floor_; }
  Seconds per_sample() const { return slope_; }

 private:
  std::vector<Point> points_;  // By batch, times not falling.
  Seconds floor_;
  Seconds slope_;
};

/// What one iteration of a worker takes on a device, by batch.
struct ComputeCurve {
  BatchCurve forward;
  BatchCurve backward;
  BatchCurve update;
  double batch_max = 1;  // Largest batch that was measured.

  /// Nothing is known beyond twice the largest batch seen; whoever asks must say so.
  bool extrapolates(double batch) const { return batch > 2 * batch_max; }
};

/// The curves of `job` on `device`. A job without samples on it is bad input that names the devices
/// it has.
Result<ComputeCurve> compute_curve(const JobProfile& job, std::string_view device);

}  // namespace stint
