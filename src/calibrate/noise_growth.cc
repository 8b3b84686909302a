#include "calibrate/noise_growth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace stint {
namespace {

using Way = std::array<double, kWayParts>;

/// ln Φ at a progress: on a line between the records, constant beyond them.
double log_scale_at(const std::vector<NoisePoint>& points, double progress) {
  const auto above = std::find_if(points.begin(), points.end(), [&](const NoisePoint& point) {
    return point.progress >= progress;
  });
  if (above == points.begin()) return std::log(points.front().scale);
  if (above == points.end()) return std::log(points.back().scale);
  const NoisePoint& before = *(above - 1);
  const double share = (progress - before.progress) / (above->progress - before.progress);
  return std::log(before.scale) + share * (std::log(above->scale) - std::log(before.scale));
}

double mean_of(const Way& way) {
  double sum = 0;
  for (const double y : way) sum += y;
  return sum / kWayParts;
}

/// y(u) of a job; nothing when none of its runs has noise.
std::vector<Way> way_of(const TrainedJob& job) {
  Way sum{};
  double runs = 0;
  for (const ReachedRun& run : job.runs) {
    if (run.noise.empty()) continue;
    ++runs;
    const double power = kNoisePower * std::log(run.batch / job.initial_batch);
    for (std::size_t k = 0; k < kWayParts; ++k) {
      const double progress = way_middle(k) * run.progress;
      sum[k] += log_scale_at(run.noise, progress) - power - std::log(job.initial_batch);
    }
  }
  if (runs == 0) return {};
  for (double& y : sum) y /= runs;
  return {sum};
}

}  // namespace

NoisePrior noise_growth(const std::map<std::string, TrainedJob>& jobs) {
  const NoisePrior universal = universal_noise_prior();
  std::vector<Way> ways{universal.mean};
  for (const auto& [name, job] : jobs) {
    for (const Way& way : way_of(job)) ways.push_back(way);
  }
  const auto count = static_cast<double>(ways.size());
  NoisePrior prior;
  for (std::size_t k = 0; k < kWayParts; ++k) {
    for (const Way& way : ways) prior.mean[k] += way[k] / count;
  }
  const double level = mean_of(prior.mean);
  double levels = universal.level_deviation * universal.level_deviation;
  double shapes = universal.shape_deviation * universal.shape_deviation;
  for (const Way& way : ways) {
    const double off = mean_of(way) - level;
    levels += off * off;
    for (std::size_t k = 0; k < kWayParts; ++k) {
      const double apart = way[k] - prior.mean[k] - off;
      shapes += apart * apart / kWayParts;
    }
  }
  prior.level_deviation = std::sqrt(levels / (count + 1));
  prior.shape_deviation = std::sqrt(shapes / (count + 1));
  return prior;
}

}  // namespace stint
