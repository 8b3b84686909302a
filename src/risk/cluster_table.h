#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "risk/deadline_game.h"

namespace stint {

/// The transitions of the number of spot machines from tick to tick: P(next count | count).
struct CountModel {
  int machines = 1;
  std::vector<double> next;  // (machines + 1)² probabilities, the present count's row first.

  std::size_t cell(int now, int then) const {
    return static_cast<std::size_t>(now) * (static_cast<std::size_t>(machines) + 1) +
           static_cast<std::size_t>(then);
  }
  double probability(int now, int then) const { return next[cell(now, then)]; }
};

/// The expected sum of machines over the next `ticks`, by the present count.
std::vector<double> machine_ticks(const CountModel& model, int ticks);

/// The estimate of these transitions from observations: the number of transitions from each count
/// to each other, on top of a prior that the count mostly stays and else changes little.
class CountBelief {
 public:
  /// Counts above `machines` count as `machines`.
  explicit CountBelief(int machines);

  void see(int count);

  /// Adds the observations of another pool, with the weight of this many ticks.
  void learn_from(std::span<const int> counts, double weight_ticks);

  double ticks() const { return ticks_; }

  CountModel model() const;

 private:
  int machines_;
  std::vector<double> seen_;
  double ticks_ = 0;
  int last_ = -1;
};

/// The move of a cluster for a tick.
enum class ClusterMove : std::uint8_t {
  kWait,  // No machine is held.
  kSpot,  // All available spot machines, and nothing else.
  kFill,  // All available spot machines, and the rest on demand.
  // On-demand machines are kept, spot fills the rest, and new on-demand ones fill what is missing.
  kFillBeside,
  kAllOnDemand
};

/// The machines that a move holds.
Holding holding_of(const DeadlineGame& game, ClusterMove move, int available, int on_demand);

/// The values that a ClusterTable holds at once for a game, a measure of its memory: about 20 bytes
/// each.
double cluster_table_cells(const DeadlineGame& game);

/// 700 MB; more machines or ticks are refused where they are read.
inline constexpr double kClusterTableCellsMax = 33'554'432;

/// The best move of a cluster in every state, by dynamic programming on the reduced moves above. A
/// state is: ticks left, work left, the available spot machines, and the machines held. The set-up
/// of a new machine is counted at once as added work, instead of idle ticks; work is discretised in
/// ticks of the whole cluster, and interpolated. Because of both approximations the policy checks
/// every move for safety.
class ClusterTable {
 public:
  ClusterTable(const DeadlineGame& game, const CountModel& pool);

  /// The moves in a state. `spot` and `on_demand` are the machines held in the previous tick,
  /// losses not yet subtracted. Requires 0 < parts left.
  ClusterMove move(int ticks_left, int parts_left, int available, const Holding& before) const;

  double value(int available) const { return values_[static_cast<std::size_t>(available)]; }
  std::size_t size() const;

 private:
  class Solver;

  std::size_t counts() const { return static_cast<std::size_t>(game_.machines) + 1; }
  std::size_t states() const { return 2 * counts(); }
  std::size_t state_of(const Holding& held) const;

  DeadlineGame game_;
  int grid_;                         // Work left is discretised up to this many ticks.
  std::vector<std::uint32_t> rows_;  // Start of the runs of each row.
  std::vector<std::uint32_t> runs_;  // 8 × the first work left of a run + its move, increasing.
  std::vector<double> values_;
};

}  // namespace stint
