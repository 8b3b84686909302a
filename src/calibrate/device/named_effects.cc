#include "calibrate/device/named_effects.h"

#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

// Of a t distribution: outliers of published tables are far out and few.
constexpr double kFreedom = 4;

}  // namespace

NamedEffects::NamedEffects(std::vector<double> variances, double noise) : noise_(noise) {
  problem_.believed = {.kinds = std::move(variances), .noises = {noise}};
  problem_.held = true;
  problem_.freedom = kFreedom;
}

void NamedEffects::add(const std::vector<NamedShare>& shares, double value) {
  Observation observation{.shares = {}, .value = value};
  for (const NamedShare& share : shares) {
    CHECK(share.kind < problem_.believed.kinds.size());
    if (share.weight == 0) continue;
    const auto [it, added] =
        numbers_.try_emplace({share.kind, share.name}, problem_.kind_of.size());
    if (added) problem_.kind_of.push_back(share.kind);
    observation.shares.push_back({.unknown = it->second, .weight = share.weight});
  }
  problem_.observations.push_back(std::move(observation));
}

void NamedEffects::fit() {
  CHECK(!problem_.observations.empty());
  fitted_ = fit_random_effects(problem_);
}

LogEstimate NamedEffects::estimate(const std::vector<NamedShare>& shares) const {
  CHECK(fitted_);
  std::vector<EffectShare> known;
  std::map<std::pair<std::size_t, std::string>, double> unseen;
  for (const NamedShare& share : shares) {
    const auto found = numbers_.find({share.kind, share.name});
    if (found != numbers_.end()) {
      known.push_back({.unknown = found->second, .weight = share.weight});
    } else {
      unseen[{share.kind, share.name}] += share.weight;
    }
  }
  double variance = noise_ + fitted_->variance(known);
  for (const auto& [key, weight] : unseen) {
    variance += weight * weight * problem_.believed.kinds[key.first];
  }
  return {.mean = fitted_->mean(known), .deviation = std::sqrt(variance)};
}

}  // namespace stint
