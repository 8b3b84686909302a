#include "calibrate/device/interval_scale.h"

#include <algorithm>
#include <cmath>

#include "calibrate/score.h"

namespace stint {

double interval_scale(std::vector<double> standardised) {
  constexpr std::size_t kFew = 30;
  if (standardised.size() < kFew) return 1;
  for (double& it : standardised) it = std::abs(it);
  std::sort(standardised.begin(), standardised.end());
  return std::clamp(quantile(standardised, 0.8) / kInterval80, 0.5, 2.0);
}

}  // namespace stint
