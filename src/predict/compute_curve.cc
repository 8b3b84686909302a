#include "predict/compute_curve.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

using Point = BatchCurve::Point;

/// Sorted by batch, with the measurements of one batch averaged.
std::vector<Point> one_per_batch(std::vector<Point> points) {
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.batch < b.batch; });
  std::vector<Point> merged;
  for (const Point& point : points) {
    if (merged.empty() || merged.back().batch != point.batch) {
      merged.push_back(point);
      continue;
    }
    Point& last = merged.back();
    const double weight = last.weight + point.weight;
    last.time = (last.weight * last.time + point.weight * point.time) / weight;
    last.weight = weight;
  }
  return merged;
}

/// Pools neighbours that fall (pool adjacent violators).
std::vector<Point> not_falling(const std::vector<Point>& points) {
  struct Pool {
    Seconds time;
    double weight;
    std::size_t size;
  };
  std::vector<Pool> pools;
  for (const Point& point : points) {
    pools.push_back({point.time, point.weight, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].time > pools.back().time) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& before = pools.back();
      const double weight = before.weight + last.weight;
      before.time = (before.weight * before.time + last.weight * last.time) / weight;
      before.weight = weight;
      before.size += last.size;
    }
  }
  std::vector<Point> rising = points;
  std::size_t next = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.size; ++i) rising[next++].time = pool.time;
  }
  return rising;
}

struct Line {
  Seconds floor;
  Seconds slope;
};

/// Least squares of (a + c b)/t = 1, with a and c not below zero.
Line fit_line(const std::vector<Point>& points) {
  double s11 = 0;
  double s1b = 0;
  double sbb = 0;
  double s1 = 0;
  double sb = 0;
  for (const Point& point : points) {
    const double time = point.time.in(kSecond);
    if (time <= 0) continue;
    const double x = 1 / time;
    const double y = point.batch / time;
    s11 += point.weight * x * x;
    s1b += point.weight * x * y;
    sbb += point.weight * y * y;
    s1 += point.weight * x;
    sb += point.weight * y;
  }
  if (sbb == 0) return {};
  const double determinant = s11 * sbb - s1b * s1b;
  const Line proportional{.floor = {}, .slope = sb / sbb * kSecond};
  if (determinant <= 1e-12 * s11 * sbb) return proportional;  // One batch with a time above zero.
  const double a = (s1 * sbb - sb * s1b) / determinant;
  const double c = (sb * s11 - s1 * s1b) / determinant;
  if (a < 0) return proportional;
  if (c < 0) return {.floor = s1 / s11 * kSecond, .slope = {}};
  return {.floor = a * kSecond, .slope = c * kSecond};
}

// Deviation of log time for each doubling of the batch outside twice the measured range. It is not
// fitted: between measured batches the affine law errs by a few percent, outside them by more.
constexpr double kExtrapolationDeviation = 0.1;

double weight_of(const Timing& timing) { return timing.count.value_or(1); }

}  // namespace

BatchCurve::BatchCurve(std::vector<Point> points, double fixed_share)
    : points_(not_falling(one_per_batch(std::move(points)))) {
  CHECK(!points_.empty());
  CHECK(points_.front().batch > 0);
  CHECK(fixed_share >= 0 && fixed_share <= 1);
  const Point& first = points_.front();
  const Line line = points_.size() > 1
                        ? fit_line(points_)
                        : Line{.floor = fixed_share * first.time,
                               .slope = (1 - fixed_share) * first.time / first.batch};
  floor_ = line.floor;
  slope_ = line.slope;
}

Seconds BatchCurve::at(double batch) const {
  const auto above = std::find_if(points_.begin(), points_.end(),
                                  [&](const Point& point) { return point.batch >= batch; });
  if (above == points_.begin()) {
    // Down the slope, but a floor above the first measurement must not lift it, and samples of a
    // smaller batch are never cheaper than those of the smallest that was measured.
    const Seconds lowest =
        std::max(std::min(floor_, above->time), batch / above->batch * above->time);
    return std::max(lowest, above->time - (above->batch - batch) * slope_);
  }
  if (above == points_.end()) {
    const Point& last = points_.back();
    return last.time + (batch - last.batch) * slope_;
  }
  const Point& below = *(above - 1);
  const double share = (batch - below.batch) / (above->batch - below.batch);
  return below.time + share * (above->time - below.time);
}

double ComputeCurve::deviation(double batch) const {
  const double above = std::max(0.0, std::log2(batch / (2 * batch_max)));
  const double below = std::max(0.0, std::log2(batch_min / (2 * batch)));
  if (!one_batch()) return kExtrapolationDeviation * std::max(above, below);
  const double ratio = batch / batch_max;
  const double time = share.mean + (1 - share.mean) * ratio;
  return std::hypot(share.deviation * std::abs(1 - ratio) / time, kExtrapolationDeviation * above);
}

Result<ComputeCurve> compute_curve(const JobProfile& job, std::string_view device,
                                   const FixedShare& share) {
  std::vector<Point> forward;
  std::vector<Point> backward;
  std::vector<Point> update;
  std::set<std::string> devices;
  double batch_min = std::numeric_limits<double>::infinity();
  double batch_max = 0;
  for (const ComputeSample& sample : job.compute) {
    devices.insert(sample.device);
    if (sample.device != device) continue;
    const double batch = sample.batch_per_worker;
    forward.push_back({batch, sample.forward.median, weight_of(sample.forward)});
    backward.push_back({batch, sample.backward.median, weight_of(sample.backward)});
    update.push_back({batch, sample.update.median, weight_of(sample.update)});
    batch_min = std::min(batch_min, batch);
    batch_max = std::max(batch_max, batch);
  }
  if (devices.empty()) {
    return bad_input(fmt::format(
        "the job {} has no compute samples; profile it on one machine first", job.name));
  }
  if (forward.empty()) {
    return bad_input(fmt::format("the job {} was not measured on {}, only on {}", job.name, device,
                                 join({devices.begin(), devices.end()}, ", ")));
  }
  return ComputeCurve{.forward = BatchCurve(std::move(forward), share.mean),
                      .backward = BatchCurve(std::move(backward), share.mean),
                      .update = BatchCurve(std::move(update), 1),
                      .batch_min = batch_min,
                      .batch_max = batch_max,
                      .share = share};
}

}  // namespace stint
