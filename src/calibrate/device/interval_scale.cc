#include "calibrate/device/interval_scale.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stint {
namespace {

/// The size that 80 % of `errors` do not exceed, every unit counting the same. Requires an error.
double eight_in_ten(const std::map<std::string, std::vector<double>>& errors) {
  constexpr double kInside = 0.8;
  constexpr double kRounding = 1e-9;
  std::vector<std::pair<double, double>> sizes;  // With their weights.
  for (const auto& [unit, its] : errors) {
    for (const double it : its) {
      sizes.emplace_back(std::abs(it), 1 / static_cast<double>(its.size()));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  const double enough = kInside * static_cast<double>(errors.size()) - kRounding;
  double weight = 0;
  for (const auto& [size, its_weight] : sizes) {
    weight += its_weight;
    if (weight >= enough) return size;
  }
  return sizes.back().first;
}

}  // namespace

void IntervalScales::add(const std::string& unit, const std::string& job, double standardised) {
  all_[unit].push_back(standardised);
  jobs_[job][unit].push_back(standardised);
}

double IntervalScales::scale(const ByUnit& errors, double believed) {
  constexpr double kBelief = 4;    // Of what is believed, in units.
  constexpr double kLeast = 0.25;  // Errors of few units may be small by chance.
  if (errors.empty()) return believed;
  const auto units = static_cast<double>(errors.size());
  const double weight = units / (units + kBelief);
  const double found = std::max(kLeast, eight_in_ten(errors) / kInterval80);
  return std::pow(found, weight) * std::pow(believed, 1 - weight);
}

double IntervalScales::of(const std::string& job) const {
  const double of_all = scale(all_, 1);
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? of_all : scale(found->second, of_all);
}

}  // namespace stint
