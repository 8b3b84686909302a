#pragma once

#include "base/units.h"
#include "risk/hazard.h"

namespace stint {

/// A random time by its first two moments.
struct RandomTime {
  Seconds mean;
  Seconds deviation;
};

/// A training run on machines that can be lost, all of which must be there to train.
struct SpotRun {
  Seconds work;               // What training takes without losses and saves.
  PerSecond loss_rate;        // Of losing any of the machines, constant.
  double without_notice = 1;  // Share of losses before which no save is possible.
  Seconds stall;              // Of training, by each save.
  Seconds transfer;           // After the stall, until the save is safe.
  RandomTime recovery;        // Per loss: wait for a machine, start it, restore the state.
  RandomTime start_up;        // Once, at the beginning.
};

/// How long a run takes. The parts of the mean add up to it.
struct SpotTime {
  Seconds mean;  // Infinite where a save would hardly ever be safe.
  Seconds deviation;
  Seconds interval;   // Work between two saves; all of it: none is made.
  double losses = 0;  // Expected.

  Seconds useful;
  Seconds saving;    // Stalls of the saves that count.
  Seconds redone;    // Work and stalls that were lost.
  Seconds starting;  // The start-up at the beginning, and the recoveries.

  double p_undisturbed = 1;  // No loss at all; then the run takes its shortest time.
  RandomTime start_up;

  /// P(the run takes no longer than `limit`): exactly the chance of no loss, and beside it a
  /// lognormal time beyond the shortest with the mean and the deviation that are left. Over 21
  /// settings of 100,000 simulated runs, with 0.4 to 200 losses in 24 h, it errs by at most 0.035
  /// at 0.9, 0.02 at 0.95 and 0.01 at 0.99; below the median by up to 0.1.
  double probability_within(Seconds limit) const;

  /// The same where the work itself is not known: its logarithm has this deviation.
  double probability_within(Seconds limit, double work_deviation) const;

  /// The time that is not exceeded with `probability`, within (0, 1).
  Seconds quantile(double probability, double work_deviation) const;
};

/// The run with a save after each `interval` of work, none of which is begun that the run's end
/// would overtake. Requires work > 0 and interval ≥ the transfer, above zero.
///
/// Marks divide the run into m segments of P = τ + δ, each with a save at its end, and a last one
/// of r = T₀ − mτ without a save. Losses come at the rate Λ while the gang works; a recovery (R) is
/// not interrupted. A loss without notice (share w) sends the run back to the last safe state, one
/// with notice only costs its recovery, because the state is saved where it stands.
///
/// Let T be the time to bring a segment of length ℓ to its end from a safe beginning, if its end is
/// safe at once, and φ(θ) = E e^{−θT}. The first loss, at s, leaves the rest ℓ − s after a notice
/// and all of ℓ without one, so with ρ = E e^{−θR}
///
///   φ(ℓ) = e^{−(Λ+θ)ℓ} + ρ ∫₀^ℓ Λ e^{−(Λ+θ)s} [(1 − w) φ(ℓ − s) + w φ(ℓ)] ds.
///
/// Differentiated in ℓ this is a linear equation of first order, whose solution is, with
/// c = Λρ/(Λ + θ) and z = e^{(Λ+θ)ℓ},
///
///   ln φ(ℓ) = −(1 − c) ln(1 + (1 − wc)(z − 1)) / (1 − wc),
///
/// and its first two derivatives at θ = 0 are the mean and the variance. With v = 1 − w,
/// u = e^{Λℓ} − 1, A = 1/Λ + E R and g(ℓ) = ln(1 + v u) / v (that is u where w = 1),
///
///   E T   = A g
///   Var T = E R² g + 2 A [g/Λ − ℓ (1 + u)/(1 + v u) − w A u² h(v u)],
///   h(x)  = (x/(1 + x) − ln(1 + x)) / x².
///
/// g is the expected number of losses, and g/Λ the time spent working. A save that is safe only x
/// after its end lets the next segment begin unsafe: where w = 1, the transform of a whole segment
/// is then exactly φ(P + x)/φ(x), by the same argument. So the run has
///
///   mean = start-up + m [E T(P + x) − E T(x)] + E T(r),
///
/// and the variance likewise, since what comes after a safe state does not depend on what was
/// before. Exact for losses at a constant rate where x = 0 or w is 0 or 1; else to first order in
/// Λ. It rises with Λ, w, δ, x and R and is never below the work.
SpotTime spot_time(const SpotRun& run, Seconds interval);

/// The run with the best even interval: the work before the last save's time to become safe is
/// divided into equal parts, about as long as the root of τ g′(P + x) = g(P + x) − g(x).
SpotTime best_spot_time(const SpotRun& run);

}  // namespace stint
