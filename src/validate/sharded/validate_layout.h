#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/sharded/layout_choice.h"
#include "validate/sharded/validate_sharded.h"

namespace stint {

/// The scores of a policy that chooses layouts; ours is called "stint".
struct LayoutValidation {
  LayoutScores ours;
  std::map<std::string, LayoutScores> baselines;
  std::string split;
  std::vector<std::string> notes;
};

/// Among the measured layouts of one model, cluster and batch, takes the one that is predicted
/// fastest, and compares its measured time with that of the fastest. Formats: vtrain and morphling.
Result<LayoutValidation> validate_layout(const Environment& environment,
                                         const ShardedRequest& request);

}  // namespace stint
