#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "measure/tables/step_table.h"

namespace stint {

/// The time of one worker alone, by batch, from the rows with a single worker.
class OneWorkerTimes {
 public:
  struct Estimate {
    Seconds time;
    double jitter = 0;  // Relative deviation of single steps beyond the usual one.
    // Doublings from the nearest measured batch, for one outside all of them.
    double doublings_beyond = 0;

    /// Beyond twice the largest measured batch, or below half the smallest.
    bool extrapolated() const { return doublings_beyond > 1; }
  };

  /// Uses the one-worker rows among `rows` that have a time.
  explicit OneWorkerTimes(std::span<const StepRow> rows);

  /// Nothing when no row with one worker shares the job, series and device.
  std::optional<Estimate> at(const StepRow& row) const;

  /// The gradient bytes of a job, where one of its rows has them.
  std::optional<Bytes> gradient_bytes(const std::string& job) const;

 private:
  struct Point {
    double batch = 1;
    double log_time = 0;
    int count = 0;
  };
  struct Curve {
    std::vector<Point> points;  // By batch.
    double scatter = 0;         // Deviation of log time from a smooth curve.
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  static double at(const Curve& curve, double batch);
  static double doublings_beyond(const Curve& curve, double batch);

  std::map<Key, Curve> curves_;
  std::map<std::string, Bytes> gradients_;
};

/// The deviation of points from a smooth curve through them: each inner point is compared with the
/// line between its neighbours, less the mean of these differences, which is the curvature.
///
///   s² = 2/3 · variance of e_i,  e_i = y_i − (line through y_{i−1} and y_{i+1} at x_i)
///
/// (2/3: for independent y of deviation s, e_i has variance 3/2 s² at even spacing.) Zero for fewer
/// than four points. Requires x ascending.
double scatter(std::span<const double> x, std::span<const double> y);

}  // namespace stint
