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

StepsToGoal ConvergenceModel::law_at(const Fit& fit, double batch) {
  return steps_to_progress(fit.curve, LearningRateRule::kAdaScale,
                           {.reference = fit.initial_batch, .batch = batch}, fit.progress);
}

ConvergenceModel::Shares ConvergenceModel::shares(const Sums& sums, double variance, double prior) {
  const double law = sums.zz / variance + 1 / squared(kLawShareDeviation);
  const double power = sums.xx / variance + 1 / squared(kPowerDeviation);
  const double both = sums.zx / variance;
  const double law_side = sums.zy / variance + prior / squared(kLawShareDeviation);
  const double power_side = sums.xy / variance;
  const double determinant = law * power - squared(both);
  return {.law = (power * law_side - both * power_side) / determinant,
          .power = (law * power_side - both * law_side) / determinant,
          .law_variance = power / determinant,
          .power_variance = law / determinant,
          .covariance = -both / determinant};
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
    fit.mean_y += std::log(run.batch * run.steps) / fit.runs;
    fit.flatness += squared(run.flatness) / fit.runs;
  }
  fit.progress = std::exp(log_progress);
  std::vector<double> laws;
  for (const ReachedRun& run : job.runs) {
    laws.push_back(std::log(run.batch * law_at(fit, run.batch).steps));
    fit.mean_z += laws.back() / fit.runs;
  }
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const double x = std::log(job.runs[i].batch) - fit.mean_x;
    const double y = std::log(job.runs[i].batch * job.runs[i].steps) - fit.mean_y;
    const double z = laws[i] - fit.mean_z;
    fit.sums.zz += z * z;
    fit.sums.zx += z * x;
    fit.sums.xx += x * x;
    fit.sums.zy += z * y;
    fit.sums.xy += x * y;
    fit.sums.yy += y * y;
  }
  const Sums& sums = fit.sums;
  const Shares it = shares(sums, squared(kRunDeviation), kLawShare);
  fit.residual = std::max(0.0, sums.yy - 2 * (it.law * sums.zy + it.power * sums.xy) +
                                   squared(it.law) * sums.zz + 2 * it.law * it.power * sums.zx +
                                   squared(it.power) * sums.xx);
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
  for (auto& [name, it] : fits_) it.law_share = law_share_without(name);
}

double ConvergenceModel::law_share_without(const std::string& job) const {
  double precision = 1 / squared(kLawShareDeviation);
  double sum = kLawShare * precision;
  for (const auto& [name, it] : fits_) {
    if (name == job || it.runs < 2) continue;
    const Shares own = shares(it.sums, it.variance, kLawShare);
    // What the runs of the job say without the prior, and how jobs differ.
    const double runs = 1 / own.law_variance - 1 / squared(kLawShareDeviation);
    if (runs <= 0) continue;
    const double share =
        (own.law / own.law_variance - kLawShare / squared(kLawShareDeviation)) / runs;
    const double weight = 1 / (1 / runs + squared(kLawShareDeviation));
    precision += weight;
    sum += weight * share;
  }
  return sum / precision;
}

std::optional<StepsEstimate> ConvergenceModel::estimate(const std::string& job,
                                                        double batch) const {
  const auto found = fits_.find(job);
  if (found == fits_.end()) return std::nullopt;
  const Fit& it = found->second;
  const StepsToGoal law = law_at(it, batch);
  const Shares share = shares(it.sums, it.variance, it.law_share);
  const double x = std::log(batch) - it.mean_x;
  const double z = std::log(batch * law.steps) - it.mean_z;
  const double variance = it.variance * (1 + 1 / it.runs) + squared(z) * share.law_variance +
                          2 * z * x * share.covariance + squared(x) * share.power_variance +
                          squared(share.law * law.deviation_noise);
  const double width =
      student_quantile(kEightInTen, kJobWeight + it.runs - 1) * std::sqrt(variance);
  const double steps = std::exp(it.mean_y + share.law * z + share.power * x) / batch;
  return StepsEstimate{
      .steps = steps, .p10 = steps * std::exp(-width), .p90 = steps * std::exp(width)};
}

}  // namespace stint
