#include "calibrate/probes.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

using Vector = std::vector<double>;

/// A row that could be measured.
struct Candidate {
  std::size_t row = 0;
  Vector slopes;
  Vector image;  // Σ times the slopes, updated after each choice.
  double noise = 0;
};

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Σ g for the covariance before any measurement of the job: the fit's, and for a job that was not
/// fitted the spread of jobs.
Vector covariance_times(const FittedLaw& law, const Vector& slopes) {
  const auto& covariance = law.solution.covariance;
  Vector image(slopes.size(), 0.0);
  for (std::size_t i = 0; i < covariance.size(); ++i) {
    for (std::size_t k = 0; k < covariance.size(); ++k) image[i] += covariance[i][k] * slopes[k];
  }
  const auto names = law_names(JobLaw{});
  for (std::size_t i = covariance.size(); i < slopes.size(); ++i) {
    const double deviation =
        law.dispersion * law.priors.job_deviation.*names[i - covariance.size()].second;
    image[i] = deviation * deviation * slopes[i];
  }
  return image;
}

/// The reduction of the variance of all candidates by measuring `probe`.
double gain(const Candidate& probe, const std::vector<Candidate>& all) {
  double sum = 0;
  for (const Candidate& other : all) {
    const double shared = dot(other.slopes, probe.image);
    sum += shared * shared;
  }
  return sum / (dot(probe.slopes, probe.image) + probe.noise);
}

std::vector<std::size_t> choose(std::vector<Candidate> candidates, int count) {
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(candidates.size(), false);
  const auto wanted = std::min(candidates.size(), static_cast<std::size_t>(count));
  while (chosen.size() < wanted) {
    std::size_t best = candidates.size();
    double best_gain = -1;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (taken[i]) continue;
      const double value = gain(candidates[i], candidates);
      if (value <= best_gain) continue;
      best = i;
      best_gain = value;
    }
    CHECK(best < candidates.size());
    taken[best] = true;
    chosen.push_back(candidates[best].row);
    // Σ ← Σ − Σ g gᵀ Σ / (gᵀ Σ g + v), applied to each candidate.
    const Vector image = candidates[best].image;
    const double variance = dot(candidates[best].slopes, image) + candidates[best].noise;
    for (Candidate& other : candidates) {
      const double factor = dot(image, other.slopes) / variance;
      for (std::size_t k = 0; k < image.size(); ++k) other.image[k] -= factor * image[k];
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::map<std::string, std::vector<std::size_t>> choose_probes(const FittedTable& table,
                                                              std::span<const StepRow> configs,
                                                              const JobFacts& facts, int count) {
  CHECK(count >= 1);
  std::map<std::string, std::vector<Candidate>> by_job;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const auto row = law_row(configs[i], table.alone, facts);
    if (!row.ok()) continue;
    const LawInput& input = row->input;
    Candidate candidate{.row = i, .slopes = table.law.slopes(row->job, row->size_known, input)};
    candidate.image = covariance_times(table.law, candidate.slopes);
    const Seconds time = law_time(table.law.fabric, table.law.job_law(row->job), input);
    candidate.noise = table.law.noise_variance(row->job, input, time);
    by_job[row->job].push_back(std::move(candidate));
  }
  std::map<std::string, std::vector<std::size_t>> probes;
  for (auto& [job, candidates] : by_job) probes[job] = choose(std::move(candidates), count);
  return probes;
}

}  // namespace stint
