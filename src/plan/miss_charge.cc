#include "plan/miss_charge.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {

MissCharge miss_charge(double confidence) {
  CHECK(confidence > 0);
  CHECK(confidence < 1);
  return {.bills = std::max(0.0, std::log(confidence / (1 - confidence)))};
}

double risk_factor(const MissCharge& charge, double probability) {
  return 1 + charge.bills * (1 - probability);
}

}  // namespace stint
