#pragma once

#include <vector>

#include "base/random.h"
#include "predict/calibrated_law.h"

namespace stint {

/// A law that may be the true one.
struct LawDraw {
  FabricLaw fabric;
  JobLaw own;
};

/// Draws laws as likely as a calibration holds them to be: the constants of the fabric by their
/// covariance, those of the job by its own deviations, or by the spread of jobs for one never seen.
class LawSampler {
 public:
  /// Null is a job never seen.
  LawSampler(const CalibratedLaw& law, const KnownJob* known);

  LawDraw draw(Random& random) const;

 private:
  FabricLaw fabric_;
  JobLaw own_;
  JobLaw deviation_;
  std::vector<std::vector<double>> root_;  // L with L Lᵀ = the covariance.
};

/// The lower triangle L with L Lᵀ = `covariance`, by Cholesky. A direction that has no variance, or
/// less than none by rounding, gets none.
std::vector<std::vector<double>> lower_root(const std::vector<std::vector<double>>& covariance);

}  // namespace stint
