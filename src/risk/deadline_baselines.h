#pragma once

#include "risk/deadline_game.h"

namespace stint {

/// What the game costs at least for someone who knows all of `available` (of at least the
/// deadline's ticks) beforehand; infinite when the deadline cannot be kept. Machines of a market
/// are alike, so the i-th of them can be taken to be there when at least i are: every such slot is
/// solved by itself for each amount of work, and the slots share the work as is cheapest.
///
/// With several zones each slot may be in another one and on-demand machines are left nowhere. For
/// one machine that is the game; for more it is a bound that nobody can reach for sure.
double cheapest_in_hindsight(const DeadlineGame& game, const ZoneTicks& available);

/// All machines on demand, all the time.
class OnDemandOnly : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  DeadlineGame game_;
};

/// Whatever spot gives, and nothing else.
class SpotOnly : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;
};

/// Whatever spot gives until the last safe moment, then on demand for good.
class Greedy : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  DeadlineGame game_;
  bool for_good_ = false;
};

/// Uniform Progress (Wu et al., NSDI'24): with work C, deadline R, changeover d and progress p(t)
/// it keeps p(t) ≥ t·C/R. It takes spot whenever it is there; machines on demand are left for spot
/// only when p(t) ≥ (t + 2d)·C/R. Without spot it takes on-demand machines once p(t) < t·C/R and
/// keeps them until p(t) ≥ (t + 2d)·C/R. When the time left is only enough for the work left plus
/// two changeovers it is on demand for good. With several machines what spot does not give is
/// filled up on demand by the same rule.
class UniformProgress : public DeadlinePolicy {
 public:
  void begin(const DeadlineGame& game, std::span<const int> past) override;
  Holding choose(const GameState& state) override;

 private:
  DeadlineGame game_;
  bool for_good_ = false;
};

/// Keeps the on-demand machines that are held, takes what spot gives beside them, and fills up on
/// demand.
Holding fill_up(const DeadlineGame& game, const GameState& state);

}  // namespace stint
