#include "base/normal.h"

#include <cmath>

#include "base/check.h"

namespace stint {

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double normal_quantile(double share) {
  CHECK(share > 0);
  CHECK(share < 1);
  // Halving the range 60 times leaves less than the precision of a double.
  double low = -40;
  double high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_distribution(middle) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace stint
