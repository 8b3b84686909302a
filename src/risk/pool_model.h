#pragma once

#include <span>
#include <vector>

#include "base/units.h"

namespace stint {

/// A stretch of ages of a spell, in ticks, in which the spell ends with the same probability.
struct SpellPhase {
  int age = 0;       // Ticks that the spell has lasted at its beginning; 0 in its first tick.
  double leave = 0;  // P(the next tick is the first of the other kind of spell); within (0, 1).
};

/// A pool whose machines are there, or not, in spells: semi-Markov, because how long a spell goes
/// on depends on how old it is. Both kinds of spell have the same phases.
struct PoolModel {
  std::vector<SpellPhase> up;
  std::vector<SpellPhase> down;
  // P(another zone has a machine at once | an up-spell ends). It then is as if a spell began.
  double stand_in = 0;
};

/// The ages at which phases begin: every tick at first, then ever fewer, up to `age_max`.
std::vector<int> phase_ages(int age_max);

/// The phase that an age is in.
int phase_at(std::span<const SpellPhase> phases, int age);

/// Ticks that a spell is expected to go on beyond this one, by its phase.
std::vector<double> ticks_to_go(std::span<const SpellPhase> phases);

/// What is known of a pool from watching it: P(spell ends) by phase. Spells are taken to be
/// log-normal, with a median and a spread that nobody knows: each pair of a grid is weighed by what
/// was seen, and the mean of all is the first guess, which tick counts then correct phase by phase
/// where there are enough of them. What is longer ago counts less, because pools drift.
class PoolBelief {
 public:
  /// Nothing seen yet. Ticks of `gap`; ages are told apart up to `age_max`.
  PoolBelief(Seconds gap, int age_max);

  /// The next tick of the pool.
  void see(bool up);

  /// What another pool showed in ticks of the same gap, with the weight of a few spells. A tick is
  /// up when it has at least `machines`.
  void learn_from(std::span<const int> counts, int machines);

  /// How long the present spell has lasted, in ticks, and what it is; of no use before a tick.
  int age() const { return age_; }
  bool is_up() const { return up_; }

  /// Spells that have ended, with what was forgotten.
  double spells() const { return up_side_.ends + down_side_.ends; }

  PoolModel model() const;

 private:
  struct Side {
    std::vector<double> ticks;         // At risk, by phase.
    std::vector<double> leaves;        // Of these, ends.
    std::vector<double> others_ticks;  // The same of other pools, weighed.
    std::vector<double> others_leaves;
    double ends = 0;
  };

  void count(Side& side, int age, bool leaves);
  std::vector<SpellPhase> predict(const Side& side, Seconds median) const;

  Seconds gap_;
  std::vector<int> ages_;
  std::vector<int> phase_of_age_;
  Side up_side_;
  Side down_side_;
  double keep_;  // Of the counts, a tick later.
  bool begun_ = false;
  bool up_ = false;
  int age_ = 0;
};

}  // namespace stint
