#include "predict/straggler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

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

double integrated(double count) {
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    sum += weighted_integrand(i, std::pow(normal_distribution(position(i)), count));
  }
  return sum * kWidth;
}

constexpr int kRemembered = 512;

/// For more than kRemembered: four values a doubling, and the cubic through the four nearest, which
/// is right to 1e-7.
double interpolated(int count) {
  constexpr int kPerDoubling = 4;
  static const std::vector<double> table = [] {
    std::vector<double> values;
    constexpr int kDoublings = 32 - 8;  // From 256 to beyond any count.
    for (int i = 0; i <= kPerDoubling * kDoublings; ++i) {
      values.push_back(
          integrated(kRemembered / 2.0 * std::exp2(static_cast<double>(i) / kPerDoubling)));
    }
    return values;
  }();
  const double place = kPerDoubling * std::log2(count / (kRemembered / 2.0));
  const auto first = static_cast<std::size_t>(place) - 1;
  const double x = place - static_cast<double>(first);  // From 1 to 2.
  const double* y = &table[first];
  return -y[0] * (x - 1) * (x - 2) * (x - 3) / 6 + y[1] * x * (x - 2) * (x - 3) / 2 -
         y[2] * x * (x - 1) * (x - 3) / 2 + y[3] * x * (x - 1) * (x - 2) / 6;
}

}  // namespace

double expected_max_of_normals(int count) {
  CHECK(count >= 1);
  // Asked for with every layout, and longer than all the rest: remembered for common counts.
  static const std::vector<double> table = expected_maxes_of_normals(kRemembered);
  if (count > kRemembered) return interpolated(count);
  return table[static_cast<std::size_t>(count - 1)];
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
