#include "converge/noise.h"

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
    // The x sum to zero, so that the mean of y need not be subtracted.
    pull += run.x * y / kRecordVariance;
  }
  const double away = std::log(batch) - mean_x_;
  return {.scale = std::exp(mean_y + pull / precision_ * away),
          .deviation = std::sqrt(kRecordVariance / count + away * away / precision_)};
}

GradientMoments gradient_moments(std::span<const WorkerGradient> workers, double mean_square) {
  CHECK(workers.size() >= 2);
  double batch = 0;
  for (const WorkerGradient& it : workers) batch += it.batch;
  return gradient_moments(workers, mean_square, batch);
}

GradientMoments gradient_moments(std::span<const WorkerGradient> workers, double mean_square,
                                 double batch) {
  CHECK(!workers.empty());
  double square = 0;
  double inverse = 0;
  for (const WorkerGradient& it : workers) {
    CHECK(it.batch > 0 && it.batch < batch);
    square += it.square;
    inverse += 1 / it.batch;
  }
  const auto count = static_cast<double>(workers.size());
  const double variance = (square / count - mean_square) / (inverse / count - 1 / batch);
  return {.variance = variance, .square = mean_square - variance / batch};
}

void NoiseEstimator::add(const GradientMoments& moments) {
  steps_ += 1;
  const double variance_off = moments.variance - mean_.variance;
  const double square_off = moments.square - mean_.square;
  mean_.variance += variance_off / steps_;
  mean_.square += square_off / steps_;
  variance_squared_ += variance_off * (moments.variance - mean_.variance);
  square_squared_ += square_off * (moments.square - mean_.square);
  product_ += variance_off * (moments.square - mean_.square);
}

NoiseScale NoiseEstimator::estimate(double quantile) const {
  CHECK(steps_ >= 2);
  NoiseScale noise{.mean = mean_};
  if (mean_.square > 0) noise.scale = std::max(mean_.variance / mean_.square, 0.0);

  // The interval is the set of Φ with a Φ² − 2 b Φ + c ≤ 0.
  const double factor = quantile * quantile / (steps_ * (steps_ - 1));
  const double a = mean_.square * mean_.square - factor * square_squared_;
  const double b = mean_.variance * mean_.square - factor * product_;
  const double c = mean_.variance * mean_.variance - factor * variance_squared_;
  const double root = std::sqrt(std::max(b * b - a * c, 0.0));
  if (a > 0 && mean_.square > 0) {
    noise.lower = std::max((b - root) / a, 0.0);
    noise.upper = std::max((b + root) / a, 0.0);
  } else if (a < 0 && c > 0) {
    // The roots have different signs, and the interval is the set outside them.
    noise.lower = std::max((b - root) / a, 0.0);
  }
  return noise;
}

double gradient_ratio(double noise_scale, double batch, double workers) {
  CHECK(batch > 0);
  return (batch + workers * noise_scale) / (batch + noise_scale);
}

std::optional<double> noise_scale_of_ratio(double ratio, double batch, double workers) {
  if (!(ratio >= 1) || !(ratio < workers)) return std::nullopt;
  return batch * (ratio - 1) / (workers - ratio);
}

}  // namespace stint
