#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "calibrate/space_sharing.h"
#include "measure/tables/pair_table.h"

namespace stint {

// What could be said of two jobs on one GPU without a model: rates without intervals, and nothing
// where SpaceSharing says nothing either.

/// Each job at half of its rate alone.
std::optional<SharedRates> half_speed(const PackedPair& pair);

/// Each job at the share of its rate alone that is usual on its device: the geometric mean over
/// both jobs of all pairs that were measured there, or anywhere when none was there.
class MeanSlowdown {
 public:
  /// Takes the pairs that SpaceSharing learns from; without any it is half_speed.
  explicit MeanSlowdown(std::span<const PackedPair> pairs);

  std::optional<SharedRates> predict(const PackedPair& pair) const;

 private:
  struct Sum {
    double log_shares = 0;
    double count = 0;
  };

  std::map<std::string, Sum> devices_;
  Sum all_;
};

}  // namespace stint
