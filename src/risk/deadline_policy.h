#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "risk/deadline_table.h"

namespace stint {

/// Stint's policy for one machine: the best moves under the estimated model of the pool, which is
/// updated with the ticks before the game and those of the game. The table is recomputed when the
/// estimate has changed enough.
///
/// With several zones the policy stays in the zone of its machine until it is lost, because an
/// early move costs as much as a move then, and else takes the zone whose spell has the longest
/// expected rest. The zones share the observations of spells without any machine, and of how often
/// one zone replaces another.
class LearnedPolicy : public DeadlinePolicy {
 public:
  /// `belief` is the prior before any tick of a zone was observed.
  explicit LearnedPolicy(PoolBelief belief);

  void begin(const DeadlineGame& game, std::span<const int> past) override;
  void begin_zones(const DeadlineGame& game, const ZoneTicks& past) override;
  int choose_zone(const GameState& state, std::span<const int> counts) override;
  Holding choose(const GameState& state) override;

 private:
  struct Zone {
    PoolBelief belief;
    PoolModel model = {};
    std::unique_ptr<DeadlineTable> table = {};  // Table of the model, computed on demand.
    double spells = 0;                          // Number of spells when the model was made.
    int age = 0;                                // Age of the spell when the model was made.
  };

  void see(std::span<const int> counts);
  PoolModel model_of(const Zone& zone) const;
  void refresh(Zone& zone, int age) const;

  PoolBelief first_;
  std::vector<Zone> zones_;
  PoolBelief all_;           // All zones together, where there are several: up when one is.
  double ends_ = 0;          // Number of up-spells that ended.
  double stood_in_for_ = 0;  // Number of those that ended while another zone was up.
  DeadlineGame game_;
};

/// The best moves when the law of the pool is known, but not its future.
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
  int age_ = 0;  // Age of the spell.
};

}  // namespace stint
