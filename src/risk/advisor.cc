#include "risk/advisor.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kHazardScope = "spot hazard";
constexpr const char* kSpotScope = "spot";
constexpr const char* kPerHour = "1/h";

PerSecond monthly_rate(double share) {
  constexpr double kNearlyAll = 0.99;  // A band up to 100 % would be an infinite rate.
  return -std::log1p(-std::min(share, kNearlyAll)) / (30 * kDay);
}

/// Rounds to six digits, more than the precision of any fit.
double rounded(double value) { return parse_double(fmt::format("{:.6g}", value)).value_or(value); }

Constant constant(std::string name, const char* scope, double value, const char* unit) {
  return {.name = std::move(name), .scope = scope, .value = rounded(value), .unit = unit};
}

std::string origin_of(const Calibration& calibration) {
  std::vector<std::string> parts;
  for (const FittedData& it : calibration.data) parts.push_back(it.provenance);
  return fmt::format("the shipped prior '{}' of {}: {}", calibration.name,
                     to_text(calibration.date), join(parts, "; "));
}

}  // namespace

PoolHazard advised_hazard(const Interruption& band) {
  const double low = band.monthly_min;
  const double high = std::max(low, band.monthly_max.value_or(kOpenBandEnd));
  std::string origin = fmt::format("{} of such machines are interrupted ({}, {})", to_text(band),
                                   band.source, to_text(band.date));
  if (!band.monthly_max) {
    origin += fmt::format("; the open band is assumed to end at {:.0f} %", 100 * high);
  }
  return {.typical = Hazard::constant(monthly_rate((low + high) / 2)),
          .low = Hazard::constant(monthly_rate(low)),
          .high = Hazard::constant(monthly_rate(high)),
          .origin = std::move(origin)};
}

PoolHazard population_hazard(const PoolPopulation& population) {
  const QuarterFactors factors = quarter_factors(population.deviation);
  return {.typical = population.median,
          .low = times(population.median, factors.low),
          .high = times(population.median, factors.high),
          .origin = {}};
}

PoolHazard observed_hazard(const PoolHazard& prior, std::span<const Lifetime> own) {
  const PoolPopulation population{
      .median = prior.typical,
      .deviation = deviation_of({.low = prior.low.cumulative(kGoogleLimit),
                                 .high = prior.high.cumulative(kGoogleLimit)})};
  const PoolFactor factor = observed_factor(population, own);
  return {.typical = times(prior.typical, factor.median),
          .low = times(prior.typical, factor.low),
          .high = times(prior.typical, factor.high),
          .origin = prior.origin};
}

Calibration spot_calibration(const PoolPopulation& population, const GroupLoss& group) {
  Calibration calibration;
  for (const HazardStep& it : population.median.steps()) {
    calibration.constants.push_back(constant(fmt::format("{:.6g} s", it.from.in(kSecond)),
                                             kHazardScope, it.rate.in(1 / kHour), kPerHour));
  }
  const QuarterFactors factors = quarter_factors(population.deviation);
  calibration.constants.push_back(constant("low", kSpotScope, factors.low, "1"));
  calibration.constants.push_back(constant("high", kSpotScope, factors.high, "1"));
  calibration.constants.push_back(constant("shared", kSpotScope, group.shared, "1"));
  calibration.constants.push_back(constant("reach", kSpotScope, group.reach, "1"));
  return calibration;
}

Result<SpotPrior> read_spot_prior(const Calibration& calibration) {
  std::vector<HazardStep> steps;
  std::map<std::string, double> values;
  const auto bad = [&](const std::string& what) {
    return bad_input(
        fmt::format("the calibration '{}' is not a prior of spot machines: {}; write one with "
                    "'stint risk fit --out'",
                    printable(calibration.name), what));
  };
  for (const Constant& it : calibration.constants) {
    if (it.scope == kSpotScope) values[it.name] = it.value;
    if (it.scope != kHazardScope) continue;
    const auto from = parse_double(split(it.name, ' ').front());
    const bool rises = steps.empty() ? from == 0.0 : from && *from * kSecond > steps.back().from;
    if (!rises || !(it.value >= 0) || it.unit != kPerHour) {
      return bad(
          fmt::format("its hazard from '{}' does not continue the one before", printable(it.name)));
    }
    steps.push_back({*from * kSecond, it.value / kHour});
  }
  if (steps.empty()) return bad("it has no hazard");
  for (const char* name : {"low", "high", "shared", "reach"}) {
    if (values.count(name) == 0) return bad(fmt::format("it has no constant {}", name));
  }
  const GroupLoss group{.shared = values["shared"], .reach = values["reach"]};
  if (!(values["low"] >= 0) || !(values["high"] >= values["low"]) || !(group.shared >= 0) ||
      !(group.shared <= 1) || !(group.reach > 0) || !(group.reach < 1)) {
    return bad("low, high, shared or reach is out of range");
  }
  const Hazard hazard(std::move(steps));
  return SpotPrior{.hazard = {.typical = hazard,
                              .low = times(hazard, values["low"]),
                              .high = times(hazard, values["high"]),
                              .origin = origin_of(calibration)},
                   .group = group};
}

}  // namespace stint
