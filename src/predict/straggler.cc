#include "predict/straggler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// E max = ∫₀^∞ (1 − Φⁿ) dx − ∫_{−∞}^0 Φⁿ dx, by the trapezoid rule, which converges fast for
// functions this smooth.
constexpr double kEnd = 9;  // Φ(−9) is below 1e-18; the largest of 10⁹ draws lies near 6.
constexpr int kSteps = 900;
constexpr double kWidth = 2 * kEnd / kSteps;

double position(int i) { return -kEnd + i * kWidth; }

/// The integrand at position i, where Φⁿ is `all_below`, with its weight in the rule.
double weighted_integrand(int i, double all_below) {
  const double weight = i == 0 || i == kSteps ? 0.5 : 1;
  // At zero the two integrands differ by one; half of each belongs to the sum.
  const double from = 2 * i == kSteps ? 0.5 : (2 * i > kSteps ? 1 : 0);
  return weight * (from - all_below);
}

}  // namespace

double expected_max_of_normals(int count) {
  CHECK(count >= 1);
  // Asked for with every layout, and longer than all the rest: remembered for common counts.
  constexpr int kRemembered = 512;
  static const std::vector<double> table = expected_maxes_of_normals(kRemembered);
  if (count <= kRemembered) return table[static_cast<std::size_t>(count - 1)];
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    sum += weighted_integrand(i, std::pow(normal_distribution(position(i)), count));
  }
  return sum * kWidth;
}

std::vector<double> expected_maxes_of_normals(int count_max) {
  CHECK(count_max >= 1);
  std::vector<double> values(static_cast<std::size_t>(count_max));
  for (int i = 0; i <= kSteps; ++i) {
    const double below = normal_distribution(position(i));
    double all_below = 1;
    for (double& value : values) {
      all_below *= below;
      value += weighted_integrand(i, all_below);
    }
  }
  for (double& value : values) value *= kWidth;
  return values;
}

}  // namespace stint
