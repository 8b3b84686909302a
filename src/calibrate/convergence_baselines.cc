#include "calibrate/convergence_baselines.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "converge/noise.h"
#include "converge/steps.h"

namespace stint {
namespace {

constexpr double kScavengerWorkers = 8;

const ReachedRun& nearest_run(const TrainedJob& job, double batch) {
  CHECK(!job.runs.empty());
  const auto distance = [&](const ReachedRun& run) {
    return std::fabs(std::log(run.batch / batch));
  };
  return *std::min_element(
      job.runs.begin(), job.runs.end(),
      [&](const ReachedRun& a, const ReachedRun& b) { return distance(a) < distance(b); });
}

/// Requires noise.
double mean_noise(const ReachedRun& run) {
  double logs = 0;
  for (const NoisePoint& point : run.noise) logs += std::log(point.scale);
  return std::exp(logs / static_cast<double>(run.noise.size()));
}

std::optional<double> scavenger_steps(const TrainedJob& job, double batch) {
  const auto count = static_cast<double>(job.runs.size());
  const auto ratio = [](const ReachedRun& run) {
    return gradient_ratio(mean_noise(run), run.batch, kScavengerWorkers);
  };
  double mean_ratio = 0;
  double mean_samples = 0;
  for (const ReachedRun& run : job.runs) {
    mean_ratio += ratio(run) / count;
    mean_samples += run.steps * run.batch / count;
  }
  double squares = 0;
  double products = 0;
  for (const ReachedRun& run : job.runs) {
    squares += std::pow(ratio(run) - mean_ratio, 2);
    products += (ratio(run) - mean_ratio) * (run.steps * run.batch - mean_samples);
  }
  const double slope = squares > 0 ? products / squares : 0;
  const double there =
      gradient_ratio(mean_noise(nearest_run(job, batch)), batch, kScavengerWorkers);
  const double samples = mean_samples + slope * (there - mean_ratio);
  return samples > 0 ? std::optional(samples / batch) : std::nullopt;
}

/// steps_to_progress without the growth of Φ with the batch.
double adascale_steps(const TrainedJob& job, const ReachedRun& run, double batch) {
  constexpr int kPieces = 1000;
  const NoiseCurve curve(run.noise);
  const double piece = run.progress / kPieces;
  double steps = 0;
  for (int i = 0; i < kPieces; ++i) {
    const double noise = curve.at((i + 0.5) * piece, run.batch).scale;
    const double gain = step_gain(LearningRateRule::kAdaScale, noise,
                                  {.reference = job.initial_batch, .batch = batch});
    steps += piece / job.initial_batch / gain;
  }
  return steps;
}

}  // namespace

std::span<const EnumName<StepsBaseline>> names_of(StepsBaseline /*type*/) {
  static constexpr EnumName<StepsBaseline> kNames[] = {
      {StepsBaseline::kConstantSteps, "constant-steps"},
      {StepsBaseline::kConstantSamples, "constant-samples"},
      {StepsBaseline::kScavenger, "scavenger"},
      {StepsBaseline::kAdaScale, "adascale"}};
  return kNames;
}

std::optional<double> baseline_steps(StepsBaseline baseline, const TrainedJob& job, double batch) {
  const ReachedRun& near = nearest_run(job, batch);
  const bool noise_known = std::all_of(job.runs.begin(), job.runs.end(),
                                       [](const ReachedRun& run) { return !run.noise.empty(); });
  switch (baseline) {
    case StepsBaseline::kConstantSteps:
      return near.steps;
    case StepsBaseline::kConstantSamples:
      return near.steps * near.batch / batch;
    case StepsBaseline::kScavenger:
      return noise_known ? scavenger_steps(job, batch) : std::nullopt;
    case StepsBaseline::kAdaScale:
      return noise_known ? std::optional(adascale_steps(job, near, batch)) : std::nullopt;
  }
  CHECK(false);
  return std::nullopt;
}

}  // namespace stint
