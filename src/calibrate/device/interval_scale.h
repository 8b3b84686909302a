#pragma once

#include <vector>

namespace stint {

/// Deviations from the middle of a normal distribution to its 10th and 90th percentile.
inline constexpr double kInterval80 = 1.2815515655446004;

/// The factor on deviations with which 80 % intervals hold 80 % of `standardised` errors (errors of
/// rows of held-out groups over their deviations), within 0.5 and 2; 1 with fewer than 30 of them.
double interval_scale(std::vector<double> standardised);

}  // namespace stint
