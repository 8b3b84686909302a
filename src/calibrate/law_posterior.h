#pragma once

#include <functional>
#include <span>

#include "solver/least_squares.h"

namespace stint {

/// A number that depends on fitted unknowns.
using FittedValue = std::function<double(std::span<const double> unknowns)>;

/// Standard deviation of `value` under the posterior of `fitted`, by the delta method:
///
///   √(gᵀ Σ g),  g the derivatives at the fit by central differences
double posterior_deviation(const Fitted& fitted, const FittedValue& value);

/// Standard deviation of single rows around a fit whose residuals are `residuals`, shrunk towards
/// `prior` with the weight of `rows_prior` rows:
///
///   √((Σ r² + m · prior²) / (n + m))
double row_deviation(std::span<const double> residuals, double prior, double rows_prior);

}  // namespace stint
