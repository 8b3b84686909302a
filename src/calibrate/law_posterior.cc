#include "calibrate/law_posterior.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace stint {

double posterior_deviation(const Fitted& fitted, const FittedValue& value) {
  constexpr double kStep = 1e-4;  // Unknowns are logarithms, so this is relative.
  std::vector<double> x = fitted.values;
  std::vector<double> gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double middle = x[i];
    x[i] = middle + kStep;
    const double above = value(x);
    x[i] = middle - kStep;
    const double below = value(x);
    x[i] = middle;
    gradient[i] = (above - below) / (2 * kStep);
  }
  double variance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      variance += gradient[i] * fitted.covariance[i][j] * gradient[j];
    }
  }
  return std::sqrt(std::max(variance, 0.0));
}

double row_deviation(std::span<const double> residuals, double prior, double rows_prior) {
  CHECK(rows_prior > 0);
  double squares = rows_prior * prior * prior;
  for (const double residual : residuals) squares += residual * residual;
  return std::sqrt(squares / (static_cast<double>(residuals.size()) + rows_prior));
}

}  // namespace stint
