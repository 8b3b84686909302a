#include "calibrate/convergence_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "converge/steps.h"
#include "predict/law.h"

namespace stint {
namespace {

// How many runs the stated spread of the population, and the population's of a job, are worth.
constexpr double kPopulationWeight = 4;
constexpr double kJobWeight = 3;

double squared(double value) { return value * value; }

}  // namespace

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
