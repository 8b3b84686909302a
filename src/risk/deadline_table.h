#pragma once

#include <cstdint>
#include <vector>

#include "risk/deadline_game.h"
#include "risk/pool_model.h"

namespace stint {

/// The move of one machine for a tick.
enum class Move : std::uint8_t { kSpot, kWait, kOnDemand };

/// The best move of one machine in every state, by dynamic programming backwards from the deadline.
/// A state is: ticks left, work left, the machine held with its set-up left, and the phase of the
/// pool's spell. With V the least expected cost to the end, a tick costs
///
///   V(l, w, m, s) = min over moves of price + Σ_s' P(s' | s) V(l − 1, w', m', s')
///
/// where w' = w − 1 on a machine that is set up, and a spot machine is lost when s' is down. A
/// missed deadline costs more than anything else: a deadline that can be kept for every future of
/// the spot market is kept.
class DeadlineTable {
 public:
  /// For a game of one machine.
  DeadlineTable(const DeadlineGame& game, const PoolModel& pool);

  /// The machine that is held.
  struct Machine {
    enum class Kind { kNone, kSpot, kOnDemand };
    Kind kind = Kind::kNone;
    int set_up_left = 0;  // Below the changeover.
  };

  /// Requires 0 < work left ≤ ticks left, and a spot machine only in an up phase.
  Move move(int ticks_left, int work_left, bool up, int phase, const Machine& machine) const;

  /// Expected cost of the whole game that begins without a machine in the first phase of a spell;
  /// more than `kImpossible` when the deadline cannot be guaranteed.
  double value(bool up) const { return up ? value_up_ : value_down_; }

  /// Bytes that the moves take.
  std::size_t size() const;

  const PoolModel& pool() const { return pool_; }

  static constexpr double kImpossible = 1e20;

 private:
  class Solver;

  std::size_t row(int ticks_left, bool up, int phase, const Machine& machine) const;

  DeadlineGame game_;
  PoolModel pool_;
  int set_ups_;                      // Number of states of a machine of a market.
  std::vector<std::uint32_t> rows_;  // Start of the runs of each row.
  std::vector<std::uint32_t> runs_;  // 4 × the first work left of a run + its move, increasing.
  double value_up_ = 0;
  double value_down_ = 0;
};

}  // namespace stint
