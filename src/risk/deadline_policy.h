#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "risk/deadline_table.h"

namespace stint {

/// Stint's policy for one machine: the best moves under what is believed of the pool, which it
/// learns from the ticks before the game and from those of the game. The table is made anew when
/// the belief has changed enough.
///
/// With several zones it stays where its machine is until it is lost, because to move early costs
/// as much as to move then, and else takes the zone whose spell is expected to go on longest. The
/// zones share what they show of spells without any machine, and of how often one zone stands in
/// for another.
class LearnedPolicy : public DeadlinePolicy {
 public:
  /// `belief` is what is known before any tick of a zone was seen.
  explicit LearnedPolicy(PoolBelief belief);

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  void begin_zones(const DeadlineGame& game, const ZoneTicks& past) override;
  int choose_zone(const GameState& state, std::span<const int> counts) override;
  Holding choose(const GameState& state) override;

 private:
  struct Zone {
    PoolBelief belief;
    PoolModel model = {};
    std::unique_ptr<DeadlineTable> table = {};  // Of the model, once it is asked for.
    double spells = 0;                          // When the model was made.
    int age = 0;                                // Of the spell, when the model was made.
  };

  void see(std::span<const int> counts);
  PoolModel model_of(const Zone& zone) const;
  void refresh(Zone& zone, int age) const;

  PoolBelief first_;
  std::vector<Zone> zones_;
  PoolBelief all_;           // Of the zones together, where there are several: up when one is.
  double ends_ = 0;          // Of up-spells.
  double stood_in_for_ = 0;  // Of these, while another zone was up.
  DeadlineGame game_;
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
