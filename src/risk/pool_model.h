#pragma once

#include <span>
#include <vector>

#include "base/units.h"

namespace stint {

/// A range of ages of a spell, in ticks, in which the spell ends with the same probability.
struct SpellPhase {
  int age = 0;       // Age of the spell at its beginning, in ticks; 0 in its first tick.
  double leave = 0;  // P(the next tick is the first of the other kind of spell); within (0, 1).
};

/// A pool whose machines are available, or not, in spells: semi-Markov, because the rest of a spell
/// depends on its age. Both kinds of spell have the same phases.
struct PoolModel {
  std::vector<SpellPhase> up;
  std::vector<SpellPhase> down;
  // P(another zone has a machine at once | an up-spell ends). Then a new spell begins.
  double stand_in = 0;
};

/// The ages at which phases begin: every tick at first, then at growing distances, up to `age_max`.
std::vector<int> phase_ages(int age_max);

/// The phase of an age.
int phase_at(std::span<const SpellPhase> phases, int age);

/// The expected ticks of a spell after this one, by its phase.
std::vector<double> ticks_to_go(std::span<const SpellPhase> phases);

/// The estimate of a pool from observations: P(spell ends) by phase. Spells are assumed log-normal
/// with unknown median and spread: each pair of a grid is weighted by its likelihood, and the mean
/// of all is the prior, which tick counts then correct phase by phase where there are enough of
/// them. Older observations count less, because pools drift.
class PoolBelief {
 public:
  /// Without observations. Ticks of `gap`; ages are distinguished up to `age_max`.
  PoolBelief(Seconds gap, int age_max);

  /// The next tick of the pool.
  void see(bool up);

  /// Adds the observations of another pool in ticks of the same gap, with the weight of a few
  /// spells. A tick is up when it has at least `machines`.
  void learn_from(std::span<const int> counts, int machines);

  /// The age of the present spell, in ticks, and its kind; undefined before a tick.
  int age() const { return age_; }
  bool is_up() const { return up_; }

  /// Number of spells that ended, weighted by age.
  double spells() const { return up_side_.ends + down_side_.ends; }

  PoolModel model() const;

 private:
  struct Side {
    std::vector<double> ticks;         // Ticks at risk, by phase.
    std::vector<double> leaves;        // Ends among these.
    std::vector<double> others_ticks;  // The same of other pools, weighted.
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
  double keep_;  // Factor on the counts per tick.
  bool begun_ = false;
  bool up_ = false;
  int age_ = 0;
};

}  // namespace stint
