#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/units.h"

namespace stint {

/// The measured speed of training relative to the prediction.
class RunSpeed {
 public:
  /// Workers start whose steps have this predicted time.
  void begin(Seconds predicted);

  /// The first steps of workers are ignored: buckets are built, and memory is allocated.
  void see(Seconds step);

  /// New predictions were made; measurements relative to the old ones do not apply to them.
  void forget();

  Seconds predicted() const { return predicted_; }

  /// The median of the latest steps of these workers, once there are enough.
  std::optional<Seconds> median() const { return median_; }

  /// Measured step time over predicted step time: of these workers, or while they are new of the
  /// previous ones; absent: nothing was measured yet.
  std::optional<double> ratio() const { return ratio_; }

  /// An upper bound of that ratio: the larger of the ratio itself and, over the latest steps of all
  /// workers, its mean plus three standard errors.
  std::optional<double> ratio_max() const;

 private:
  Seconds predicted_;
  int warm_up_ = 0;  // Steps that are still to be ignored.
  std::vector<Seconds> recent_;
  std::optional<Seconds> median_;
  std::optional<double> ratio_;
  std::deque<double> ratios_;  // Ratios of the latest steps.
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
};

}  // namespace stint
