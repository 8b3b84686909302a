#include "converge/work.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/codec_fields.h"
#include "base/limits.h"
#include "converge/steps.h"

namespace stint {
namespace {

/// The length of the training, in samples at the reference batch.
struct Distance {
  double samples = 0;
  double deviation = 0;  // Deviation of the logarithm.
};

Result<Distance> distance_to_target(const JobProfile& job, const Target& target) {
  std::map<int, std::vector<MetricPoint>> runs;
  for (const NoiseRecord& it : job.noise) {
    if (it.progress && it.metric) runs[it.batch].push_back({*it.progress, *it.metric});
  }
  if (runs.empty()) {
    return bad_input(
        fmt::format("the number of samples to the target of the job {} is unknown; add noise "
                    "records with \"progress\" and \"metric\", or give the goal in epochs",
                    job.name));
  }
  const Level level{target.level, target.lower_is_better.value_or(false)};
  double logs = 0;
  int reached = 0;
  for (auto& [batch, run] : runs) {
    std::stable_sort(run.begin(), run.end(), [](const MetricPoint& a, const MetricPoint& b) {
      return a.moment < b.moment;
    });
    const auto samples = moment_of(run, level);
    if (!samples || !(*samples > 0)) continue;
    logs += std::log(*samples);
    ++reached;
  }
  if (reached == 0) {
    return bad_input(
        fmt::format("no noise record of the job {} reaches its target of {} {}; record a longer "
                    "run, or give the goal in epochs",
                    job.name, target.metric, target.level));
  }
  return Distance{.samples = std::exp(logs / reached), .deviation = kRunDeviation};
}

Result<Distance> distance_to_goal(const JobProfile& job) {
  if (!job.goal) {
    return bad_input(fmt::format(
        "the job {} has no goal; give one to 'stint profile', 'stint plan' or 'stint run', for "
        "example --goal epochs=90",
        job.name));
  }
  if (job.goal->target) return distance_to_target(job, *job.goal->target);
  if (job.goal->samples) return Distance{.samples = *job.goal->samples};
  if (!job.samples_per_epoch) {
    return bad_input(fmt::format(
        "the goal of the job {} is in epochs, but it has no samples_per_epoch", job.name));
  }
  return Distance{.samples =
                      job.goal->epochs.value_or(0) * static_cast<double>(*job.samples_per_epoch)};
}

std::vector<NoisePoint> noise_points(const JobProfile& job) {
  std::vector<NoisePoint> points;
  for (const NoiseRecord& it : job.noise) {
    const double scale = it.gradient_variance / it.gradient_square;
    const bool usable = it.gradient_square > 0 && it.gradient_variance > 0 && std::isfinite(scale);
    if (!usable) continue;
    points.push_back({.batch = static_cast<double>(it.batch),
                      .progress = it.progress.value_or(0),
                      .scale = scale});
  }
  return points;
}

// Further than this factor from every batch that is known, the law of the noise is a guess; and so
// many more batches would make planning take a minute.
constexpr double kBatchFactorMax = 32;

/// The batches to choose from, in order.
std::vector<int> batches_of(const BatchRange& range, const NoiseCurve& curve) {
  const int recorded_min = static_cast<int>(curve.batch_min());
  const int recorded_max = static_cast<int>(curve.batch_max());
  const double low = std::min(recorded_min, range.reference) / kBatchFactorMax;
  const double high = std::max(recorded_max, range.reference) * kBatchFactorMax;
  const int wanted_min = std::min(range.min.value_or(recorded_min), range.reference);
  const int wanted_max = std::max(range.max.value_or(recorded_max), range.reference);
  const int min = wanted_min < low ? static_cast<int>(std::ceil(low)) : wanted_min;
  const int max = wanted_max > high ? static_cast<int>(high) : wanted_max;
  std::set<int> batches{min, max, range.reference};
  const auto add_from_reference = [&](double step) {
    for (double batch = range.reference * step; batch > min && batch < max; batch *= step) {
      batches.insert(static_cast<int>(std::lround(batch)));
    }
  };
  add_from_reference(std::sqrt(2.0));
  add_from_reference(std::sqrt(0.5));
  return {batches.begin(), batches.end()};
}

/// The last step may be shorter than the others; a sum that rounds a little above a whole number of
/// steps does not add one.
double whole_steps(double steps) { return std::ceil(steps * (1 - 1e-9)); }

Work work_at_reference(int batch, const Distance& distance) {
  return {.choices = {{.global_batch = batch,
                       .iterations = whole_steps(distance.samples / batch),
                       .deviation = distance.deviation}},
          .assumptions = {fmt::format(
              "The profile has no noise record, so the global batch stays at its reference of {}.",
              batch)}};
}

}  // namespace

bool reaches(double metric, const Level& level) {
  return level.lower_is_better ? metric <= level.value : metric >= level.value;
}

std::optional<double> moment_of(std::span<const MetricPoint> run, const Level& level) {
  double best = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const MetricPoint& it = run[i];
    if (reaches(it.metric, level)) {
      if (i == 0) return it.moment;
      const double before = run[i - 1].moment;
      return before + (it.moment - before) * (level.value - best) / (it.metric - best);
    }
    const bool better = i == 0 || (level.lower_is_better ? it.metric < best : it.metric > best);
    if (better) best = it.metric;
  }
  return std::nullopt;
}

namespace {

Result<Work> plain_work(const JobProfile& job) {
  const auto distance = distance_to_goal(job);
  if (!distance.ok()) return distance.error();
  if (!job.batch) {
    return bad_input(fmt::format(
        "the job {} has no reference batch; add \"batch\": {{\"reference\": 256}}", job.name));
  }
  if (!(distance->samples > 0)) {
    return bad_input(fmt::format("the goal of the job {} is zero; raise it", job.name));
  }
  if (!(distance->samples <= kSamplesMax)) {
    return bad_input(
        fmt::format("the goal of the job {} is {:.3g} samples, and at most {:g} can be "
                    "planned; lower it",
                    job.name, distance->samples, kSamplesMax));
  }
  const std::vector<NoisePoint> points = noise_points(job);
  if (points.empty()) return work_at_reference(job.batch->reference, *distance);

  // Its steps are worth what the noise allows, like those of the linear rule, without the risk of a
  // learning rate that is too large.
  const LearningRateRule rule = job.learning_rate_rule.value_or(LearningRateRule::kAdaScale);
  const NoiseCurve curve(points);
  Work work;
  for (const int batch : batches_of(*job.batch, curve)) {
    const StepsToGoal steps =
        steps_to_progress(curve, rule,
                          {.reference = static_cast<double>(job.batch->reference),
                           .batch = static_cast<double>(batch)},
                          distance->samples);
    work.choices.push_back({.global_batch = batch,
                            .iterations = whole_steps(steps.steps),
                            .deviation = std::hypot(steps.deviation, distance->deviation)});
  }
  const int least = work.choices.front().global_batch;
  const int most = work.choices.back().global_batch;
  if (job.batch->min.value_or(least) < least || job.batch->max.value_or(most) > most) {
    work.assumptions.push_back(fmt::format(
        "Batches below {} and above {} are left out: they are too far from the recorded "
        "ones.",
        least, most));
  }
  work.assumptions.push_back(
      fmt::format("Iterations at batch sizes other than {} follow the recorded gradient noise "
                  "under the {} rule for the learning rate{}.",
                  job.batch->reference, name_of(rule),
                  job.learning_rate_rule ? "" : ", as the profile states none"));
  return work;
}

}  // namespace

Result<Work> work_to_goal(const JobProfile& job) {
  auto work = plain_work(job);
  if (!work.ok() || !job.work) return work;
  work->assumptions.insert(work->assumptions.begin(), job.work->notes.begin(),
                           job.work->notes.end());
  return work;
}

BatchChoice choice_near(const Work& work, int global_batch) {
  CHECK(global_batch >= 1);
  CHECK(!work.choices.empty());
  const auto distance = [&](const BatchChoice& it) {
    return std::abs(std::log(static_cast<double>(it.global_batch) / global_batch));
  };
  BatchChoice nearest = *std::min_element(
      work.choices.begin(), work.choices.end(),
      [&](const BatchChoice& a, const BatchChoice& b) { return distance(a) < distance(b); });
  if (nearest.global_batch == global_batch) return nearest;
  const double samples = nearest.iterations * nearest.global_batch;
  nearest.iterations = whole_steps(samples / global_batch);
  nearest.global_batch = global_batch;
  return nearest;
}

}  // namespace stint
