#include "calibrate/held_out_width.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {

void HeldOutErrors::add(double log_error, const LogSpread& spread, std::size_t rows) {
  CHECK(rows > 0);
  const double weight = 1 / static_cast<double>(rows);
  const double error = log_error / kEightInTen;
  below_.push_back({-error / spread.below, weight});
  above_.push_back({error / spread.above, weight});
}

/// The error that a tenth of the weight lies beyond. Requires errors.
double HeldOutErrors::one_in_ten(std::vector<Error> errors) {
  constexpr double kBeyond = 0.1;
  std::sort(errors.begin(), errors.end(),
            [](const Error& a, const Error& b) { return a.reach > b.reach; });
  double all = 0;
  for (const Error& it : errors) all += it.weight;
  double beyond = 0;
  for (const Error& it : errors) {
    beyond += it.weight;
    if (beyond > kBeyond * all) return it.reach;
  }
  return errors.back().reach;
}

LogSpread HeldOutErrors::factors(std::size_t groups, double believed, double narrowing) const {
  constexpr double kBelief = 1;    // Weight of what is believed, in groups.
  constexpr double kLeast = 0.05;  // Of the reach: an interval never vanishes.
  if (groups == 0 || below_.empty()) return {.below = believed, .above = believed};
  const auto count = static_cast<double>(groups);
  const auto factor = [&](const std::vector<Error>& errors) {
    const double found = std::max(kLeast, one_in_ten(errors));
    const double weight = count / (count + (found < believed ? narrowing : kBelief));
    return std::pow(found, weight) * std::pow(believed, 1 - weight);
  };
  return {.below = factor(below_), .above = factor(above_)};
}

}  // namespace stint
