#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"

namespace stint {

/// A number to be fitted, and its prior.
struct Unknown {
  double prior_mean = 0;
  double prior_deviation = 1;  // Infinite: there is no prior.
  double start = 0;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

/// Writes one residual per row of data for the unknowns `x`, each in units of its own deviation.
using Residuals = std::function<void(std::span<const double> x, std::span<double> residuals)>;

struct LeastSquares {
  std::vector<Unknown> unknowns;
  std::size_t rows = 0;
  Residuals residuals;
  // Residuals well beyond this many deviations count linearly instead of in square.
  double robust_beyond = std::numeric_limits<double>::infinity();
  int iterations_max = 200;
};

struct Fitted {
  std::vector<double> values;                   // Values of the unknowns, in their order.
  std::vector<std::vector<double>> covariance;  // Covariance of the posterior, prior included.
  std::vector<bool> identified;                 // False: the data hardly narrowed the prior.
  double cost = 0;                              // Half the sum of squares, priors included.
  int iterations = 0;
  bool converged = false;
};

/// The unknowns that minimise
///
///   ½ Σ ρ(r_i(x)²) + ½ Σ ((x_j − μ_j)/σ_j)²,  ρ(s) = 2c² (√(1 + s/c²) − 1)
///
/// with Ceres (Levenberg–Marquardt within the bounds; derivatives by differences). An unknown
/// counts as identified when its posterior deviation is below 0.9 of its prior one. Residuals that
/// are not finite at the start are a failure that names the row.
Result<Fitted> fit(const LeastSquares& problem);

}  // namespace stint
