#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "interleave/turn_times.h"

namespace stint {

/// Chooses the job that computes next on one accelerator; see TurnOrder.
class TurnGiver {
 public:
  /// One entry for each job: its turns in a round of a rhythm, at least one.
  TurnGiver(TurnOrder order, std::span<const int> turns);

  /// A job requests the accelerator. Requires that it has not already done so.
  void want(std::size_t job);

  /// A job needs no more turns.
  void leave(std::size_t job);

  /// The turn is free: returns its next holder, or none. The holder's request is removed.
  std::optional<std::size_t> next();

  /// Whether any job waits for the accelerator.
  bool wanted() const { return !waiting_.empty(); }

 private:
  std::optional<std::size_t> next_in_rhythm();
  std::optional<std::size_t> next_in_circle();
  std::optional<std::size_t> take(std::size_t job);
  bool waits(std::size_t job) const;

  TurnOrder order_;
  std::vector<std::size_t> rhythm_;   // Jobs in the order of a round, each with all of its turns.
  std::vector<bool> gone_;            // By job.
  std::vector<std::size_t> waiting_;  // Waiting jobs, in the order in which they asked.
  std::size_t place_ = 0;             // Position in the rhythm, or in the circle of jobs.
};

}  // namespace stint
