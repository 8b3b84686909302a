#include "risk/pool_population.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/normal.h"
#include "risk/hazard_fit.h"

namespace stint {
namespace {

/// The age at which pools are compared: Google's limit, and all studies reach it.
constexpr Seconds kComparedAt = kGoogleLimit;

constexpr double kOuterQuarter = 7.0 / 8;  // The middle of the worst quarter.

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double it : values) sum += it;
  return sum / static_cast<double>(values.size());
}

/// Unbiased; of one value nothing is known, which counts as zero.
double variance_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double it : values) sum += (it - mean) * (it - mean);
  return sum / static_cast<double>(values.size() - 1);
}

/// The ages at which any of the hazards changes, without the launch.
std::vector<Seconds> ages_of(const std::vector<Hazard>& hazards) {
  std::set<Seconds> ages;
  std::size_t most = 0;
  for (const Hazard& it : hazards) most = std::max(most, it.steps().size());
  for (const Hazard& it : hazards) {
    // The steps of the finest fit are enough: two fits differ by little within them.
    if (it.steps().size() < most) continue;
    for (const HazardStep& step : it.steps()) ages.insert(step.from);
    break;
  }
  ages.erase(Seconds());
  ages.insert(kComparedAt);
  ages.insert(2 * kComparedAt);
  return {ages.begin(), ages.end()};
}

}  // namespace

Hazard times(const Hazard& hazard, double factor) {
  std::vector<HazardStep> steps = hazard.steps();
  for (HazardStep& it : steps) it.rate = it.rate * factor;
  return Hazard(std::move(steps));
}

PoolStudy study_of(std::span<const Lifetime> lifetimes) {
  const HazardFit fit = fit_hazard(lifetimes);
  std::vector<double> logs;
  for (const auto& [zone, factor] : zone_factors(fit, lifetimes)) logs.push_back(std::log(factor));
  return {.hazard = hazard_of(fit, {}), .variance = variance_of(logs)};
}

PoolStudy study_of(const PublishedLosses& published) {
  const auto rate = [&](double share) { return -std::log1p(-share) / published.within; };
  const PerSecond low = rate(published.share_min);
  const PerSecond high = rate(published.share_max);
  const double width = std::log(high / low);
  return {.hazard = Hazard::constant(low * std::exp(width / 2)), .variance = width * width / 12};
}

PoolPopulation pool_population(std::span<const PoolStudy> studies) {
  std::vector<Hazard> hazards;
  std::vector<double> levels;
  std::vector<double> within;
  for (const PoolStudy& it : studies) {
    const double amount = it.hazard.cumulative(kComparedAt);
    if (!(amount > 0)) continue;
    hazards.push_back(it.hazard);
    levels.push_back(std::log(amount));
    within.push_back(it.variance);
  }
  if (hazards.empty()) return {.median = Hazard::constant({})};
  const double n = static_cast<double>(hazards.size());
  const double variance = (1 + 1 / n) * variance_of(levels) + mean_of(within);
  if (hazards.size() == 1) return {hazards.front(), std::sqrt(variance)};
  std::vector<HazardStep> steps;
  Seconds from;
  double before = 0;
  for (const Seconds age : ages_of(hazards)) {
    if (age - from < kSecond) continue;  // The same age, but for rounding.
    double sum = 0;
    // A study may have no losses at first; a hair of a machine keeps the logarithm finite.
    for (const Hazard& it : hazards) sum += std::log(std::max(it.cumulative(age), 1e-12));
    const double amount = std::exp(sum / n);
    steps.push_back({from, (amount - before) / (age - from)});
    before = amount;
    from = age;
  }
  return {Hazard(std::move(steps)), std::sqrt(variance)};
}

QuarterFactors quarter_factors(double deviation) {
  const double high = std::exp(normal_quantile(kOuterQuarter) * deviation);
  return {.low = 1 / high, .high = high};
}

double deviation_of(const QuarterFactors& factors) {
  if (!(factors.low > 0)) return 0;
  return std::log(factors.high / factors.low) / (2 * normal_quantile(kOuterQuarter));
}

PoolFactor observed_factor(const PoolPopulation& population, std::span<const Lifetime> own) {
  double losses = 0;
  double expected = 0;
  for (const Lifetime& it : own) {
    losses += it.at_most.has_value() ? 1 : 0;
    expected += population.median.cumulative(middle_age(it));
  }
  // Log-factors within six deviations, in steps finer than any observation resolves.
  constexpr int kSide = 600;
  constexpr double kDeviations = 6;
  std::vector<double> logs;
  std::vector<double> weights;
  for (int i = -kSide; i <= kSide; ++i) {
    const double at = kDeviations * i / kSide;
    const double log_factor = at * population.deviation;
    logs.push_back(log_factor);
    weights.push_back(-at * at / 2 + losses * log_factor - expected * std::exp(log_factor));
  }
  const double top = *std::max_element(weights.begin(), weights.end());
  double all = 0;
  for (double& it : weights) all += it = std::exp(it - top);
  const auto quantile = [&](double share) {
    double sum = 0;
    std::size_t i = 0;
    while (i + 1 < logs.size() && (sum += weights[i]) < share * all) ++i;
    return std::exp(logs[i]);
  };
  return {
      .low = quantile(1 - kOuterQuarter), .median = quantile(0.5), .high = quantile(kOuterQuarter)};
}

}  // namespace stint
