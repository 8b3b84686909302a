#include "calibrate/convergence_models.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "converge/noise.h"
#include "converge/steps.h"
#include "predict/law.h"

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

// Weight, in runs, of the stated spread of the population, and of the population's spread for a
// job.
constexpr double kPopulationWeight = 4;
constexpr double kJobWeight = 3;

double squared(double value) { return value * value; }

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

double student_quantile(double normal, double freedom) {
  const double z2 = squared(normal);
  return normal *
         (1 + (z2 + 1) / (4 * freedom) + (5 * z2 * z2 + 16 * z2 + 3) / (96 * squared(freedom)));
}

ConvergenceModel::Fit ConvergenceModel::fit(const TrainedJob& job) {
  CHECK(!job.runs.empty());
  std::vector<NoisePoint> noise;
  for (const ReachedRun& run : job.runs) {
    noise.insert(noise.end(), run.noise.begin(), run.noise.end());
  }
  Fit fit{.curve = NoiseCurve(noise), .initial_batch = job.initial_batch};
  fit.runs = static_cast<double>(job.runs.size());
  double log_progress = 0;
  for (const ReachedRun& run : job.runs) {
    log_progress += std::log(run.progress) / fit.runs;
    fit.mean_x += std::log(run.batch) / fit.runs;
    fit.flatness += squared(run.flatness) / fit.runs;
  }
  fit.progress = std::exp(log_progress);
  std::vector<double> offs;
  for (const ReachedRun& run : job.runs) {
    const StepsToGoal law =
        steps_to_progress(fit.curve, LearningRateRule::kAdaScale,
                          {.reference = job.initial_batch, .batch = run.batch}, fit.progress);
    offs.push_back(std::log(run.steps / law.steps));
    fit.mean_e += offs.back() / fit.runs;
  }
  for (std::size_t i = 0; i < offs.size(); ++i) {
    const double x = std::log(job.runs[i].batch) - fit.mean_x;
    fit.sum_xx += squared(x);
    fit.sum_xe += x * (offs[i] - fit.mean_e);
    fit.residual += squared(offs[i] - fit.mean_e);
  }
  return fit;
}

ConvergenceModel::ConvergenceModel(const std::map<std::string, TrainedJob>& jobs) {
  double residual = kPopulationWeight * squared(kRunDeviation);
  double weight = kPopulationWeight;
  for (const auto& [name, job] : jobs) {
    const Fit& it = fits_.emplace(name, fit(job)).first->second;
    residual += it.residual;
    weight += it.runs - 1;
  }
  for (auto& [name, it] : fits_) {
    const double others = (residual - it.residual) / (weight - (it.runs - 1));
    const double prior = std::max(others, it.flatness);
    it.variance = (kJobWeight * prior + it.residual) / (kJobWeight + it.runs - 1);
  }
}

std::optional<StepsEstimate> ConvergenceModel::estimate(const std::string& job,
                                                        double batch) const {
  const auto found = fits_.find(job);
  if (found == fits_.end()) return std::nullopt;
  const Fit& it = found->second;
  const StepsToGoal law =
      steps_to_progress(it.curve, LearningRateRule::kAdaScale,
                        {.reference = it.initial_batch, .batch = batch}, it.progress);
  const double precision = it.sum_xx / it.variance + 1 / squared(kPowerDeviation);
  const double power = it.sum_xe / it.variance / precision;
  const double away = std::log(batch) - it.mean_x;
  const double variance =
      it.variance * (1 + 1 / it.runs) + squared(away) / precision + squared(law.deviation_noise);
  const double width =
      student_quantile(kEightInTen, kJobWeight + it.runs - 1) * std::sqrt(variance);
  const double steps = law.steps * std::exp(it.mean_e + power * away);
  return StepsEstimate{
      .steps = steps, .p10 = steps * std::exp(-width), .p90 = steps * std::exp(width)};
}

}  // namespace stint
