#pragma once

#include <memory>
#include <span>
#include <vector>

#include "risk/cluster_table.h"

namespace stint {

/// Stint's policy for several machines that come and go: the best of the reduced moves under what
/// is believed of the count, as long as it is safe; else the next that is. The belief learns from
/// the ticks before the game and from those of the game, and the table is made anew when it has
/// grown by half.
///
/// With several zones it moves to one that has more machines now, when these are expected to make
/// up for the set-up until the deadline. The count that the table knows is the one where it was.
class ClusterPolicy : public DeadlinePolicy {
 public:
  /// `belief` is what is known before any tick of a zone was seen.
  explicit ClusterPolicy(CountBelief belief);

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  void begin_zones(const DeadlineGame& game, const ZoneTicks& past) override;
  int choose_zone(const GameState& state, std::span<const int> counts) override;
  Holding choose(const GameState& state) override;

 private:
  struct Zone {
    CountBelief belief;
    std::vector<double> machine_ticks = {};  // Until the deadline, by the present count.
    double ticks = 0;                        // Seen when these were added up.
  };

  CountBelief first_;
  std::vector<Zone> zones_;  // Where there are several.
  CountBelief belief_;
  DeadlineGame game_;
  std::unique_ptr<ClusterTable> table_;
  double ticks_ = 0;  // Seen when the table was made.
  Holding before_;
};

}  // namespace stint
