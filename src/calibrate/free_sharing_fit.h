#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tables/pair_table.h"
#include "plan/calibration.h"
#include "predict/free_sharing.h"

namespace stint {

/// The prediction for pairs of other jobs from measured pairs.
struct FreeSharingFit {
  FreeSharingLaw law;
  int pairs = 0;
  std::vector<std::string> jobs;
  // Error over both jobs of pairs that were held out with all pairs of either.
  AccuracyRecord error;
};

/// The law for unseen jobs that follows from SpaceSharing's fit of `pairs` that count steps. Its
/// spreads are such that the 80 % interval covers eight in ten rates of pairs on that device, when
/// every two jobs are held out in turn with all pairs of either; on other devices it is the widest
/// one. Bad input when no pair has others that share no job with it.
Result<FreeSharingFit> fit_free_sharing(std::span<const PackedPair> pairs);

}  // namespace stint
