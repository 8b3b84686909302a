#pragma once

#include <optional>
#include <vector>

#include "optimise/evaluate.h"

namespace stint {

/// Configurations of which none is both slower and dearer than another, fastest first.
class Front {
 public:
  /// True when nothing here is at least as fast and as cheap.
  bool wants(Seconds time, Dollars cost) const;

  /// Adds a configuration that is wanted and drops what it makes needless.
  void add(const Found& found);

  const std::vector<Found>& points() const { return points_; }

 private:
  std::vector<Found> points_;   // Times rise, costs fall.
  std::vector<Seconds> times_;  // Of the points, apart from them: most are only asked.
  std::vector<Dollars> costs_;
};

/// The knee of a front by Kneedle (Satopää et al., 2011): with time and cost each scaled to
/// 0 … 1 between the ends of the front, the point farthest below the straight line between them.
/// Nothing for an empty front; the cheaper end where no point lies below.
std::optional<std::size_t> knee(const std::vector<Found>& front);

}  // namespace stint
