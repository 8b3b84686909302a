#pragma once

#include <optional>
#include <vector>

#include "base/codec_fields.h"

namespace stint {

/// The measured speed of training relative to the prediction.
class RunSpeed {
 public:
  /// Workers start whose steps have this predicted time.
  void begin(Seconds predicted);

  /// The first steps of workers are ignored: buckets are built, and memory is allocated. `step` is
  /// the median of so many `steps`.
  void see(Seconds step, int steps = 1);

  /// New predictions were made; measurements relative to the old ones do not apply to them.
  void forget();

  Seconds predicted() const { return predicted_; }

  /// The median of the latest steps of these workers, once there are enough.
  std::optional<Seconds> median() const { return median_; }

  /// Measured step time over predicted step time: of these workers, or while they are new of the
  /// previous ones; absent: nothing was measured yet.
  std::optional<double> ratio() const { return ratio_; }

  /// That ratio over the first steps of these workers, once there are enough.
  std::optional<double> ratio_first() const { return first_; }

  /// An upper bound of that ratio: the larger of the ratio itself and, over the latest steps of all
  /// workers, its mean plus three standard errors.
  std::optional<double> ratio_max() const;

 private:
  Seconds predicted_;
  int warm_up_ = 0;  // Steps that are still to be ignored.
  std::vector<Seconds> recent_;
  std::optional<Seconds> median_;
  std::optional<double> ratio_;
  std::optional<double> first_;
  std::vector<double> ratios_;  // Ratios of the latest steps, or medians of some.

  template <class Walk>
  friend void describe(Walk& walk, Like<Walk, RunSpeed>& it) {
    walk.number("predicted_s", it.predicted_, kSecond, "Predicted time of a step.");
    walk.field("warm_up", it.warm_up_, "Steps that are still to be ignored.");
    walk.numbers("recent_s", it.recent_, kSecond, "Times of the latest steps.");
    walk.number("median_s", it.median_, kSecond, "Their median.");
    walk.field("ratio", it.ratio_, "Measured step time over predicted step time.");
    walk.field("first", it.first_, "The same over the first steps of these workers.");
    walk.field("ratios", it.ratios_, "The same of the latest steps.");
  }
};

/// Whether a measurement calls for a new plan: when it leaves its interval, once for each group of
/// workers, and after that only once it has changed by another tenth, so that a plan that was
/// declined is not made repeatedly.
class ReplanTrigger {
 public:
  bool fires(double ratio, double low, double high, int attempt);

  void forget() { *this = {}; }

 private:
  std::optional<double> last_;  // The measurement for which a plan was last requested.
  std::optional<int> attempt_;

  template <class Walk>
  friend void describe(Walk& walk, Like<Walk, ReplanTrigger>& it) {
    walk.field("last", it.last_, "Measurement for which a plan was last requested.");
    walk.field("attempt", it.attempt_, "Attempt of that request.");
  }
};

}  // namespace stint
