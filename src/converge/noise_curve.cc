#include "converge/noise_curve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kRecordVariance = kRecordDeviation * kRecordDeviation;
constexpr double kPowerPrecision = 1 / (kNoisePowerDeviation * kNoisePowerDeviation);

}  // namespace

NoiseCurve::NoiseCurve(std::span<const NoisePoint> points) {
  CHECK(!points.empty());
  std::vector<NoisePoint> sorted(points.begin(), points.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const NoisePoint& a, const NoisePoint& b) {
    return a.batch != b.batch ? a.batch < b.batch : a.progress < b.progress;
  });
  for (const NoisePoint& point : sorted) {
    CHECK(point.scale > 0);
    CHECK(point.batch > 0);
    if (runs_.empty() || runs_.back().batch != point.batch) runs_.push_back({.batch = point.batch});
    runs_.back().records.push_back({point.progress, std::log(point.scale)});
  }
  for (const Run& run : runs_) mean_x_ += std::log(run.batch) / static_cast<double>(runs_.size());
  precision_ = kPowerPrecision;
  for (Run& run : runs_) {
    run.x = std::log(run.batch) - mean_x_;
    precision_ += run.x * run.x / kRecordVariance;
  }
}

double NoiseCurve::log_scale(const std::vector<Record>& records, double progress) {
  const auto after =
      std::lower_bound(records.begin(), records.end(), progress,
                       [](const Record& record, double value) { return record.progress < value; });
  if (after == records.begin()) return records.front().log_scale;
  if (after == records.end()) return records.back().log_scale;
  const auto before = after - 1;
  const double share = (progress - before->progress) / (after->progress - before->progress);
  return (1 - share) * before->log_scale + share * after->log_scale;
}

NoiseAt NoiseCurve::at(double progress, double batch) const {
  const auto count = static_cast<double>(runs_.size());
  double mean_y = 0;
  double pull = kNoisePower * kPowerPrecision;
  for (const Run& run : runs_) {
    const double y = log_scale(run.records, progress);
    mean_y += y / count;
    pull += run.x * y / kRecordVariance;  // The x sum to zero, so that y needs no mean taken off.
  }
  const double away = std::log(batch) - mean_x_;
  return {.scale = std::exp(mean_y + pull / precision_ * away),
          .deviation = std::sqrt(kRecordVariance / count + away * away / precision_)};
}

}  // namespace stint
