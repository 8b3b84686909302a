#pragma once

#include <memory>
#include <span>

#include "risk/cluster_table.h"

namespace stint {

/// Stint's policy for several machines that come and go: the best of the reduced moves under what
/// is believed of the count, as long as it is safe; else the next that is. The belief learns from
/// the ticks before the game and from those of the game, and the table is made anew when it has
/// grown by half.
class ClusterPolicy : public DeadlinePolicy {
 public:
  /// `belief` is what is known before any tick of the pool was seen.
  explicit ClusterPolicy(CountBelief belief);

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  CountBelief first_;
  CountBelief belief_;
  DeadlineGame game_;
  std::unique_ptr<ClusterTable> table_;
  double ticks_ = 0;  // Seen when the table was made.
  Holding before_;
};

}  // namespace stint
