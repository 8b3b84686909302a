#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "risk/deadline_table.h"

namespace stint {

/// Stint's policy for one machine: the best moves under what is believed of the pool, which it
/// learns from the ticks before the game and from those of the game. The table is made anew when
/// the belief has changed enough.
class LearnedPolicy : public DeadlinePolicy {
 public:
  /// `belief` is what is known before any tick of the pool was seen.
  explicit LearnedPolicy(PoolBelief belief);

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  PoolBelief first_;
  PoolBelief belief_;
  DeadlineGame game_;
  std::unique_ptr<DeadlineTable> table_;
  double spells_ = 0;  // When the table was made.
  int age_ = 0;        // Of the spell, when the table was made.
};

/// The best moves for someone who knows the law of the pool, though not its future.
class InformedPolicy : public DeadlinePolicy {
 public:
  explicit InformedPolicy(PoolModel law) : law_(std::move(law)) {}

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  void see(bool up);

  PoolModel law_;
  DeadlineGame game_;
  std::unique_ptr<DeadlineTable> table_;
  std::optional<bool> up_;
  int age_ = 0;  // Of the spell.
};

}  // namespace stint
