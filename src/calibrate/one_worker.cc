#include "calibrate/one_worker.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

// Usual scatter of times of one worker about their curve: the difference of repeats in published
// tables is about 4 %.
constexpr double kUsualScatter = 0.05;
// Scatter at which a figure is moved by half of the maximum, which is half the distance to the line
// through its neighbours.
constexpr double kHalfBelieved = 0.15;

double line_at(double x0, double y0, double x1, double y1, double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

}  // namespace

double scatter(std::span<const double> x, std::span<const double> y) {
  CHECK(x.size() == y.size());
  if (x.size() < 4) return 0;
  std::vector<double> differences;
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    differences.push_back(y[i] - line_at(x[i - 1], y[i - 1], x[i + 1], y[i + 1], x[i]));
  }
  double mean = 0;
  for (const double difference : differences) mean += difference;
  mean /= static_cast<double>(differences.size());
  double square = 0;
  for (const double difference : differences) square += (difference - mean) * (difference - mean);
  return std::sqrt(square / static_cast<double>(differences.size()) * 2 / 3);
}

OneWorkerTimes::OneWorkerTimes(std::span<const StepRow> rows) {
  for (const StepRow& row : rows) {
    if (row.gradient_bytes) gradients_.emplace(row.job, *row.gradient_bytes);
    if (!row.time || !row.unusable.empty() || workers(row) != 1) continue;
    auto& points = curves_[{row.job, row.series, row.device}].points;
    auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
      return point.batch == row.batch_per_worker;
    });
    if (found == points.end()) found = points.insert(points.end(), {row.batch_per_worker, 0, 0});
    found->log_time += std::log((row.times_per_step * *row.time).in(kSecond));
    ++found->count;
  }
  for (auto& [key, curve] : curves_) {
    std::sort(curve.points.begin(), curve.points.end(),
              [](const Point& a, const Point& b) { return a.batch < b.batch; });
    std::vector<double> x;
    std::vector<double> y;
    for (Point& point : curve.points) {
      point.log_time /= point.count;
      x.push_back(std::log(point.batch));
      y.push_back(point.log_time);
    }
    curve.scatter = scatter(x, y);
  }
}

double OneWorkerTimes::at(const Curve& curve, double batch) {
  const auto& points = curve.points;
  const double x = std::log(batch);
  const auto above = std::find_if(points.begin(), points.end(),
                                  [&](const Point& point) { return point.batch >= batch; });
  if (above != points.end() && above->batch == batch) {
    // Where figures scatter, a figure is partly noise: it is moved towards the line of its
    // neighbours.
    if (above == points.begin() || above + 1 == points.end()) return above->log_time;
    const Point& before = *(above - 1);
    const Point& after = *(above + 1);
    const double line =
        line_at(std::log(before.batch), before.log_time, std::log(after.batch), after.log_time, x);
    const double square = curve.scatter * curve.scatter;
    const double drawn = square / (square + kHalfBelieved * kHalfBelieved);
    return above->log_time + drawn * (line - above->log_time) / 2;
  }
  if (points.size() == 1) return points.front().log_time + std::log(batch / points.front().batch);
  if (above == points.begin()) {
    // A step of a smaller batch is not shorter than in proportion, and not longer than the first.
    const double first = points[0].log_time;
    const double line =
        line_at(std::log(points[0].batch), first, std::log(points[1].batch), points[1].log_time, x);
    return std::clamp(line, first + std::log(batch / points[0].batch), first);
  }
  if (above == points.end()) {
    const Point& last = points.back();
    return last.log_time + std::log(batch / last.batch);
  }
  const Point& before = *(above - 1);
  return line_at(std::log(before.batch), before.log_time, std::log(above->batch), above->log_time,
                 x);
}

double OneWorkerTimes::doublings_beyond(const Curve& curve, double batch) {
  const double above = std::log2(batch / curve.points.back().batch);
  const double below = std::log2(curve.points.front().batch / batch);
  return std::max({0.0, above, below});
}

std::optional<OneWorkerTimes::Estimate> OneWorkerTimes::at(const StepRow& row) const {
  const auto found = curves_.find({row.job, row.series, row.device});
  if (found == curves_.end()) return std::nullopt;
  const Curve& curve = found->second;
  const double beyond =
      std::sqrt(std::max(0.0, curve.scatter * curve.scatter - kUsualScatter * kUsualScatter));
  return Estimate{.time = std::exp(at(curve, row.batch_per_worker)) * kSecond,
                  .jitter = beyond,
                  .doublings_beyond = doublings_beyond(curve, row.batch_per_worker)};
}

std::optional<Bytes> OneWorkerTimes::gradient_bytes(const std::string& job) const {
  const auto found = gradients_.find(job);
  return found == gradients_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace stint
