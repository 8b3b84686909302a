#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/units.h"

namespace stint {

/// How fast training is, beside what was predicted.
class RunSpeed {
 public:
  /// Workers begin whose steps were predicted to take so long.
  void begin(Seconds predicted);

  /// The first steps of workers are left out: buckets are made, and memory is taken.
  void see(Seconds step);

  /// New predictions are made; what was measured beside the old ones says nothing of them.
  void forget();

  Seconds predicted() const { return predicted_; }

  /// Of the latest steps of these workers, once there are enough.
  std::optional<Seconds> median() const { return median_; }

  /// A step takes so many times what was predicted. Of these workers, or while they are new of
  /// those before; absent: nothing was measured yet.
  std::optional<double> ratio() const { return ratio_; }

  /// It takes hardly more than so many times: the larger of that ratio and, over the latest steps
  /// of whatever workers, the mean and three standard errors of it.
  std::optional<double> ratio_max() const;

 private:
  Seconds predicted_;
  int warm_up_ = 0;  // Steps that are still to be left out.
  std::vector<Seconds> recent_;
  std::optional<Seconds> median_;
  std::optional<double> ratio_;
  std::deque<double> ratios_;  // Of the latest steps.
};

/// Whether a measurement calls for a new plan: when it leaves its interval, once for each group of
/// workers, and after that not before it has moved by another tenth, so that a plan that was
/// declined is not made again and again.
class ReplanTrigger {
 public:
  bool fires(double ratio, double low, double high, int attempt);

  void forget() { *this = {}; }

 private:
  std::optional<double> last_;  // For which a plan was asked for.
  std::optional<int> attempt_;
};

}  // namespace stint
