#include "calibrate/convergence_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

// The share of the worst of the best metrics that a run must reach, so that each training run
// reaches it.
constexpr double kLevelShare = 0.98;

using Runs = std::vector<const ConvergenceRun*>;

/// Requires values.
double median(std::vector<double> values) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool is_falling(const Runs& runs) {
  double rise = 0;
  for (const ConvergenceRun* run : runs) {
    const std::size_t count = run->epochs.size();
    for (std::size_t i = 0; i < count / 2; ++i) {
      rise += (*run->epochs[count - 1 - i].metric - *run->epochs[i].metric) /
              static_cast<double>(count);
    }
  }
  return rise < 0;
}

Level level_of(const Runs& runs) {
  Level level{.lower_is_better = is_falling(runs)};
  std::optional<double> worst;
  for (const ConvergenceRun* run : runs) {
    double best = *run->epochs.front().metric;
    for (const ConvergenceRow& row : run->epochs) {
      best = level.lower_is_better ? std::min(best, *row.metric) : std::max(best, *row.metric);
    }
    if (!worst || (level.lower_is_better ? best > *worst : best < *worst)) worst = best;
  }
  const bool towards_zero = level.lower_is_better == (*worst < 0);
  level.value = towards_zero ? *worst * kLevelShare : *worst / kLevelShare;
  return level;
}

/// Nothing when no row has a noise ratio.
std::optional<double> initial_batch_of(const Runs& runs) {
  std::vector<double> batches;
  for (const ConvergenceRun* run : runs) {
    double progress = 0;
    double steps = 0;
    for (const ConvergenceRow& row : run->epochs) {
      const double gain = (*row.progress - progress) / (*row.iteration - steps);
      progress = *row.progress;
      steps = *row.iteration;
      if (!row.noise_ratio || !std::isfinite(gain) || gain <= 0) continue;
      const double ratio = *row.noise_ratio;
      const double batch = run->batch * ((ratio + 1) / gain - 1) / ratio;
      if (std::isfinite(batch)) batches.push_back(batch);
    }
  }
  if (batches.empty()) return std::nullopt;
  return std::max(std::round(median(batches)), 1.0);
}

double jitter_of(const ConvergenceRun& run, double from_progress) {
  std::vector<double> offs;
  for (std::size_t i = 1; i + 1 < run.epochs.size(); ++i) {
    if (*run.epochs[i].progress < from_progress) continue;
    const double middle = (*run.epochs[i - 1].metric + *run.epochs[i + 1].metric) / 2;
    offs.push_back(std::fabs(*run.epochs[i].metric - middle));
  }
  return offs.empty() ? 0 : 1.4826 * median(offs) / std::sqrt(1.5);
}

double flatness_of(const ConvergenceRun& run, const std::vector<MetricPoint>& by_progress,
                   const Level& level, double progress) {
  const double jitter = jitter_of(run, progress / 2);
  const auto moment = [&](double off) {
    const Level moved{.value = level.value + off, .lower_is_better = level.lower_is_better};
    return std::log(moment_of(by_progress, moved).value_or(by_progress.back().moment));
  };
  return std::fabs(moment(jitter) - moment(-jitter)) / 2;
}

ReachedRun reached_run(const ConvergenceRun& run, const Level& level, double initial_batch) {
  std::vector<MetricPoint> by_progress;
  ReachedRun reached{.batch = static_cast<double>(run.batch)};
  for (const ConvergenceRow& row : run.epochs) {
    by_progress.push_back({*row.progress, *row.metric});
    const double scale = row.noise_ratio.value_or(0) * initial_batch;
    if (!(scale > 0) || !std::isfinite(scale)) continue;
    reached.noise.push_back(
        {.batch = reached.batch, .progress = *row.progress * initial_batch, .scale = scale});
  }
  const auto progress = moment_of(by_progress, level);
  const auto steps = moment_of(metric_by_steps(run), level);
  CHECK(progress.has_value());
  CHECK(steps.has_value());
  reached.steps = *steps;
  reached.progress = *progress * initial_batch;
  reached.flatness = flatness_of(run, by_progress, level, *progress);
  for (const ConvergenceRow& row : run.epochs) reached.epochs += *row.iteration < *steps ? 1 : 0;
  return reached;
}

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

std::vector<ConvergenceRun> runs_of(std::span<const ConvergenceRow> rows) {
  std::vector<ConvergenceRun> runs;
  std::map<std::pair<std::string, int>, std::size_t> last;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ConvergenceRow& row = rows[i];
    const auto key = std::pair(row.job, row.batch);
    const auto found = last.find(key);
    if (found == last.end() || runs[found->second].epochs.back().epoch >= row.epoch) {
      last[key] = runs.size();
      runs.push_back({.job = row.job, .batch = row.batch});
    }
    ConvergenceRun& run = runs[last[key]];
    run.epochs.push_back(row);
    run.rows.push_back(i);
  }
  return runs;
}

std::vector<MetricPoint> metric_by_steps(const ConvergenceRun& run) {
  std::vector<MetricPoint> points;
  for (const ConvergenceRow& row : run.epochs) {
    if (row.iteration && row.metric) points.push_back({*row.iteration, *row.metric});
  }
  return points;
}

std::map<std::string, TrainedJob> trained_jobs(std::span<const ConvergenceRun> runs) {
  std::map<std::string, Runs> by_job;
  for (const ConvergenceRun& run : runs) by_job[run.job].push_back(&run);
  std::map<std::string, TrainedJob> jobs;
  for (const auto& [name, of_job] : by_job) {
    const auto initial_batch = initial_batch_of(of_job);
    if (!initial_batch) continue;
    TrainedJob job{.initial_batch = *initial_batch, .level = level_of(of_job)};
    for (const ConvergenceRun* run : of_job) {
      job.runs.push_back(reached_run(*run, job.level, *initial_batch));
      job.rows_without_noise += static_cast<int>(run->epochs.size() - job.runs.back().noise.size());
    }
    jobs[name] = std::move(job);
  }
  return jobs;
}

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
