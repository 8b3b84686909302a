#pragma once

#include "base/check.h"
#include "base/file.h"
#include "calibrate/law_fit.h"
#include "plan/calibration.h"

namespace stint {

/// The shipped prior.
inline LawPriors bundled_priors() {
  const auto text = read_file(STINT_SOURCE "/data/calibration/priors.json");
  CHECK(text.ok());
  const auto calibration = read_calibration(*text, "priors.json");
  CHECK(calibration.ok());
  const auto priors = law_priors(calibration->noun);
  CHECK(priors.ok());
  return *priors;
}

}  // namespace stint
