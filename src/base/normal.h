#pragma once

namespace stint {

/// Share of a standard normal distribution that lies below `x`.
double normal_distribution(double x);

/// x with normal_distribution(x) = share. Requires 0 < share < 1.
double normal_quantile(double share);

}  // namespace stint
