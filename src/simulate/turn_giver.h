#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "interleave/turn_times.h"

namespace stint {

/// Decides who computes next on one accelerator; see TurnOrder.
class TurnGiver {
 public:
  /// With one entry for each job: how many turns it has in a round of a rhythm, at least one.
  TurnGiver(TurnOrder order, std::span<const int> turns);

  /// A job wants the accelerator. Requires that it did not want it already.
  void want(std::size_t job);

  /// A job needs no more turns, ever.
  void leave(std::size_t job);

  /// The turn is free: who has it from now on, or nobody. Whoever has it no longer wants it.
  std::optional<std::size_t> next();

  /// Whether anybody wants the accelerator.
  bool wanted() const { return !waiting_.empty(); }

 private:
  std::optional<std::size_t> next_in_rhythm();
  std::optional<std::size_t> next_in_circle();
  std::optional<std::size_t> take(std::size_t job);
  bool waits(std::size_t job) const;

  TurnOrder order_;
  std::vector<std::size_t> rhythm_;   // Jobs in the order of a round, each with all of its turns.
  std::vector<bool> gone_;            // By job.
  std::vector<std::size_t> waiting_;  // In the order in which they asked.
  std::size_t place_ = 0;             // In the rhythm, or in the circle of jobs.
};

}  // namespace stint
