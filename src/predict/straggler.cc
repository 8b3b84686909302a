#include "predict/straggler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

double expected_max(std::span<const double> values, int count) {
  CHECK(!values.empty());
  CHECK(count >= 1);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto size = static_cast<double>(sorted.size());
  double sum = 0;
  double below = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double up_to = std::pow(static_cast<double>(i + 1) / size, count);
    sum += sorted[i] * (up_to - below);
    below = up_to;
  }
  return sum;
}

double expected_max_of_normals(int count) {
  CHECK(count >= 1);
  // E max = ∫₀^∞ (1 − Φⁿ) dx − ∫_{−∞}^0 Φⁿ dx, by the trapezoid rule, which converges fast for
  // functions this smooth.
  constexpr double kEnd = 9;  // Φ(−9) is below 1e-18; the largest of 10⁹ draws lies near 6.
  constexpr int kSteps = 900;
  constexpr double kWidth = 2 * kEnd / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = -kEnd + i * kWidth;
    const double all_below = std::pow(normal_distribution(x), count);
    const double weight = i == 0 || i == kSteps ? 0.5 : 1;
    // At zero the two integrands differ by one; half of each belongs to the sum.
    const double integrand = i == kSteps / 2 ? 0.5 - all_below : (x > 0 ? 1 : 0) - all_below;
    sum += weight * integrand;
  }
  return sum * kWidth;
}

}  // namespace stint
