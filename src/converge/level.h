#pragma once

#include <optional>
#include <span>

namespace stint {

/// A metric at one moment of a run; moments are counted in steps or in samples.
struct MetricPoint {
  double moment = 0;
  double metric = 0;
};

/// What a metric has to reach.
struct Level {
  double value = 0;
  bool lower_is_better = false;
};

/// True when a metric of `metric` is as good as `level` or better.
bool reaches(double metric, const Level& level);

/// The first moment at which the best metric so far reaches `level`, on a straight line from the
/// best so far at the point before. When the first point reaches it, that point's moment: before it
/// nothing is known, and it is the earliest at which anyone could have stopped. Nothing when no
/// point reaches it. Requires points in order of their moments.
std::optional<double> moment_of(std::span<const MetricPoint> run, const Level& level);

}  // namespace stint
