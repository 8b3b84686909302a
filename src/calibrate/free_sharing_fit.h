#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tables/pair_table.h"
#include "plan/calibration.h"
#include "predict/free_sharing.h"

namespace stint {

/// What measured pairs say of pairs of other jobs.
struct FreeSharingFit {
  FreeSharingLaw law;
  int pairs = 0;
  std::vector<std::string> jobs;
  AccuracyRecord error;  // Of both jobs of pairs that were left out with all pairs of either.
};

/// The law for jobs never seen within what SpaceSharing learns of `pairs` that count steps. Its
/// spreads are such that the 80 % interval holds eight in ten rates of pairs on that device, when
/// every two jobs are left out in turn with all pairs of either; elsewhere it is the widest one.
/// Bad input when no pair has others that share no job with it.
Result<FreeSharingFit> fit_free_sharing(std::span<const PackedPair> pairs);

}  // namespace stint
