#pragma once

#include "risk/deadline_game.h"

namespace stint {

/// The clairvoyant optimum: the least cost of the game when all of `available` (of at least the
/// deadline's ticks) is known beforehand; infinite when the deadline cannot be kept. Machines of a
/// market are alike, so that the i-th is available when at least i are: every such slot is solved
/// alone for each amount of work, and the slots share the work in the cheapest way.
///
/// With several zones each slot may be in another one, and moving releases no on-demand machine.
/// For one machine that is the game; for more it is a lower bound that may not be reachable.
double cheapest_in_hindsight(const DeadlineGame& game, const ZoneTicks& available);

/// The policy of all machines on demand, all the time.
class OnDemandOnly : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  DeadlineGame game_;
};

/// The policy of all available spot machines, and nothing else.
class SpotOnly : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;
};

/// The policy of all available spot machines until the last safe moment, then on demand to the end.
class Greedy : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  DeadlineGame game_;
  bool for_good_ = false;
};

/// Uniform Progress (Wu et al., NSDI'24): with work C, deadline R, changeover d and progress p(t)
/// it keeps p(t) ≥ t·C/R. It uses spot whenever available; on-demand machines are replaced by spot
/// only when p(t) ≥ (t + 2d)·C/R. Without spot it uses on-demand machines once p(t) < t·C/R and
/// keeps them until p(t) ≥ (t + 2d)·C/R. When the time left is only enough for the work left plus
/// two changeovers it stays on demand to the end. With several machines the missing spot machines
/// are replaced on demand by the same rule.
class UniformProgress : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  DeadlineGame game_;
  bool for_good_ = false;
};

/// Keeps the held on-demand machines, adds the available spot machines, and fills the rest on
/// demand.
Holding fill_up(const DeadlineGame& game, const GameState& state);

}  // namespace stint
