#pragma once

#include <cstddef>
#include <vector>

#include "base/normal.h"

namespace stint {

/// Where a training that goes on could go on: what is believed, and what it costs to go there.
struct SearchQuestion {
  LogBelief step_time;             // Seconds of an iteration, by setup.
  LogBelief steps_left;            // To the goal, by batch.
  std::vector<std::size_t> batch;  // Of each setup, in steps_left.
  std::vector<double> rate;        // What a second costs: 1 where time counts, else its price.
  std::vector<double> move;        // What it costs to go there, in the same unit.
  std::vector<bool> allowed = {};  // Empty: all are.
  // Where one may go to find out; elsewhere only if that pays by itself. Empty: everywhere.
  std::vector<bool> may_probe = {};
  std::size_t now = 0;  // The setup it is on.
  // What is believed may be wrong: a move must gain this share of what is left, and so many times
  // what it costs, beyond its cost. A probe must gain so many times what it and the move on from it
  // cost, beyond the best that needs no probe.
  double least_gain = 0.01;
  double worth = 0.5;
};

/// What to do next, with its arithmetic, in the unit of `rate` times seconds.
struct SearchMove {
  std::size_t to = 0;  // The setup that it is on: stay.
  double stay = 0;     // What is left where it is.
  double rest = 0;     // What is left with the move, which is part of it.
  double plain = 0;    // The same if nothing were learned there.
};

/// The setup to go to next, by what the rest of the training takes from there:
///
///   J_i = rate_i E[T_i] E[S_i],  V(now) = J_now
///   V(c) = move_c + E_z min(J_c(z), min_i (move_i + J_i(z))),
///   J_i(z) = J_i exp(ρ_i z − ρ_i²/2),  ρ_i = cov(ln T_i, ln T_c)/√var(ln T_c)
///
/// z is what a few iterations on c will tell of its time, and with it of the times of all others:
/// a setup is worth more the more is learned there, because one may go on from it. It is the
/// setup of the largest expected gain less what finding out costs; that there is none that is worth
/// it ends the search. The mean over z is a sum over eleven equally likely slices.
SearchMove next_move(const SearchQuestion& question);

}  // namespace stint
