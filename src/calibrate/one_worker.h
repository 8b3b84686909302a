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

/// What one worker takes alone, by batch, from the rows with a single worker.
class OneWorkerTimes {
 public:
  struct Estimate {
    Seconds time;
    double jitter = 0;            // Relative deviation of single steps beyond what is usual.
    double doublings_beyond = 0;  // From the nearest batch seen, for one outside all of them.

    /// Beyond twice the largest batch seen, or below half the smallest.
    bool extrapolated() const { return doublings_beyond > 1; }
  };

  /// Takes the one-worker rows among `rows` that have a time.
  explicit OneWorkerTimes(std::span<const StepRow> rows);

  /// Nothing when no row with one worker shares the job, series and device.
  std::optional<Estimate> at(const StepRow& row) const;

  /// The gradient bytes of a job, where one of its rows says them.
  std::optional<Bytes> gradient_bytes(const std::string& job) const;

 private:
  struct Point {
    double batch = 1;
    double log_time = 0;
    int count = 0;
  };
  struct Curve {
    std::vector<Point> points;  // By batch.
    double scatter = 0;         // Of log time about a smooth curve.
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  static double at(const Curve& curve, double batch);
  static double doublings_beyond(const Curve& curve, double batch);

  std::map<Key, Curve> curves_;
  std::map<std::string, Bytes> gradients_;
};

/// The deviation of points from a curve through them that may bend but not wiggle: each inner point
/// against the line between its neighbours, less the mean of these differences, which is the bend.
///
///   s² = 2/3 · variance of e_i,  e_i = y_i − (line through y_{i−1} and y_{i+1} at x_i)
///
/// (2/3: for independent y of deviation s, e_i has variance 3/2 s² at even spacing.) Zero for fewer
/// than four points. Requires x ascending.
double scatter(std::span<const double> x, std::span<const double> y);

}  // namespace stint
