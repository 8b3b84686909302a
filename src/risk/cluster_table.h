#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "risk/deadline_game.h"

namespace stint {

/// How the number of spot machines changes from tick to tick: P(next count | count).
struct CountModel {
  int machines = 1;
  std::vector<double> next;  // (machines + 1)² probabilities, the present count's row first.

  double probability(int now, int then) const {
    const int cell = now * (machines + 1) + then;
    return next[static_cast<std::size_t>(cell)];
  }
};

/// Machines that are expected to be there over the next `ticks`, added up, by the present count.
std::vector<double> machine_ticks(const CountModel& model, int ticks);

/// What is known of the count from watching it: how often it went from each number to each other,
/// beside a first guess that it mostly stays and else moves little.
class CountBelief {
 public:
  /// Counts above `machines` are seen as `machines`.
  explicit CountBelief(int machines);

  void see(int count);

  /// What another pool showed, with the weight of so many ticks.
  void learn_from(std::span<const int> counts, double weight_ticks);

  double ticks() const { return ticks_; }

  CountModel model() const;

 private:
  int machines_;
  std::vector<double> seen_;
  double ticks_ = 0;
  int last_ = -1;
};

/// What a cluster does for a tick.
enum class ClusterMove : std::uint8_t {
  kWait,        // Nothing is held.
  kSpot,        // All that spot gives, and nothing else.
  kFill,        // All that spot gives, and the rest on demand.
  kFillBeside,  // On-demand machines are kept, spot fills the rest, and new ones what is missing.
  kAllOnDemand
};

/// The machines that a move holds.
Holding holding_of(const DeadlineGame& game, ClusterMove move, int available, int on_demand);

/// The best move of a cluster in every situation, by dynamic programming on the reduced moves
/// above. A situation is: ticks left, work left, the spot machines there are, and what was held. A
/// new machine owes its set-up at once, as work that is added, instead of idling for some ticks;
/// work is told apart in ticks of the whole cluster, and interpolated. The policy that asks checks
/// every move for safety, because of both.
class ClusterTable {
 public:
  ClusterTable(const DeadlineGame& game, const CountModel& pool);

  /// The moves at a situation. `spot` and `on_demand` are those held in the tick before, losses not
  /// yet taken off. Requires 0 < parts left.
  ClusterMove move(int ticks_left, int parts_left, int available, const Holding& before) const;

  double value(int available) const { return values_[static_cast<std::size_t>(available)]; }
  std::size_t size() const;

 private:
  class Solver;

  int states() const { return 2 * game_.machines + 2; }
  int state_of(const Holding& held) const;

  DeadlineGame game_;
  int grid_;                         // Work left is told apart up to this many ticks.
  std::vector<std::uint32_t> rows_;  // Where the runs of each row begin.
  std::vector<std::uint32_t> runs_;  // 8 × the first work left of a run + its move, rising.
  std::vector<double> values_;
};

}  // namespace stint
