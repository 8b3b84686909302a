#pragma once

#include <memory>
#include <span>
#include <vector>

#include "risk/cluster_table.h"

namespace stint {

/// Stint's policy for several machines: the best of the reduced moves under the estimated law of
/// the count, as long as it is safe; else the next best that is. The estimate is updated with the
/// ticks before the game and those of the game, and the table is recomputed when the number of
/// ticks has grown by half.
///
/// With several zones the policy moves to one that has more machines now, when these are expected
/// to make up for the set-up until the deadline. The table uses the law of the zone where it was
/// computed.
class ClusterPolicy : public DeadlinePolicy {
 public:
  /// `belief` is the prior before any tick of a zone was observed.
  explicit ClusterPolicy(CountBelief belief);

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  void begin_zones(const DeadlineGame& game, const ZoneTicks& past) override;
  int choose_zone(const GameState& state, std::span<const int> counts) override;
  Holding choose(const GameState& state) override;

 private:
  struct Zone {
    CountBelief belief;
    // Expected machine ticks until the deadline, by the present count.
    std::vector<double> machine_ticks = {};
    double ticks = 0;  // Number of observed ticks when these were added up.
  };

  CountBelief first_;
  std::vector<Zone> zones_;  // Where there are several zones.
  CountBelief belief_;
  DeadlineGame game_;
  std::unique_ptr<ClusterTable> table_;
  double ticks_ = 0;  // Number of observed ticks when the table was computed.
  Holding before_;
};

}  // namespace stint
