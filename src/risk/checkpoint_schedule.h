#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "risk/hazard.h"
#include "risk/save_cost.h"

namespace stint {

/// Machines that start together and train until one is lost or the work is done.
struct SpotGang {
  Hazard hazard;              // Hazard of losing any of the machines.
  double without_notice = 1;  // Share of losses before which no checkpoint is possible.
  Seconds horizon;            // Age at which the work is done and nothing can be lost.
};

/// The hazard of a gang that started together: `machines` times that of one of them, where
/// `machines` is smaller for machines that are lost together. Requires machines ≥ 0.
Hazard gang_hazard(const Hazard& one, double machines);

/// The expected waste of a gang until it is lost or done.
struct SaveWaste {
  Seconds stalled;
  Seconds redone;
  Seconds alive;  // Expected time until then.

  double fraction() const { return (stalled + redone) / alive; }
};

/// The waste of checkpoints that begin at the ages `begins`.
///
/// A checkpoint that begins at b stalls training until b + δ and is safe at b + δ + x (x the
/// transfer).
/// With S the survival of the gang, f = −S′ and w the share of losses without notice,
///
///   stalled = Σ_i ∫ S(s) ds                              over [b_i, b_i + δ]
///   redone  = w Σ_i ∫ f(s) (work(s) − work(b_i)) ds      over [b_i + δ + x, b_{i+1} + δ + x]
///
/// where the first sum of `redone` begins with the safe state of age zero and ends at the horizon.
/// A loss with notice costs nothing. Requires begins that rise by at least δ + x, since a
/// checkpoint does not begin before the last is safe, and a last one that is safe at the horizon.
SaveWaste expected_waste(const SpotGang& gang, const SaveCost& save,
                         std::span<const Seconds> begins);

/// The least wasteful choice among the ages of `grid`, by dynamic programming from the horizon
/// back: the cost of a checkpoint depends only on the previous one. Requires an increasing grid.
std::vector<Seconds> best_begins(const SpotGang& gang, const SaveCost& save,
                                 std::span<const Seconds> grid);

/// Work between two checkpoints, and the resulting waste.
struct IntervalWaste {
  Seconds interval;  // Equal to the horizon: no checkpoint.
  double waste = 0;  // Share of the time.
};

/// A schedule, with the waste of constant intervals for comparison.
struct SavePlan {
  std::vector<Seconds> begins;  // Ages.
  SaveWaste waste;
  IntervalWaste constant;  // The best constant interval.
  IntervalWaste young;
  IntervalWaste daly;
};

/// The schedule with the least expected waste. Refused, with the reason: a gang without
/// checkpoints, and one whose work would take more than kWorkTimesMax times as long as without
/// losses, because checkpoints are hardly ever safe before the next loss.
Result<SavePlan> plan_saves(const SpotGang& gang, const std::optional<SaveCost>& save);

inline constexpr double kWorkTimesMax = 20;

/// The exact share of time wasted at a constant hazard λ over an unlimited time.
///
///   waste = 1 − (1 − w) (1 − e^{−λτ}) / (1 − e^{−λP}) − w λτ e^{−λx} / (e^{λP} − 1),   P = τ + δ
///
/// Between losses checkpoints are safe at P + x, 2P + x, …, each worth τ; with notice only stalls
/// count.
/// Requires rate > 0 and interval ≥ the transfer.
double exponential_waste(PerSecond rate, double without_notice, const SaveCost& save,
                         Seconds interval);

/// The interval that minimises it; infinite when all losses have notice. Where none have, it solves
/// λτ = 1 − e^{−λ(τ + δ)}, of which Young's and Daly's are expansions.
Seconds exponential_interval(PerSecond rate, double without_notice, const SaveCost& save);

/// Young (1974): √(2δM), M the mean time between losses.
Seconds young_interval(Seconds stall, Seconds mean_between_losses);

/// Daly (2006): √(2δM) (1 + ⅓ √(δ/2M) + δ/18M) − δ where δ < 2M, else M.
Seconds daly_interval(Seconds stall, Seconds mean_between_losses);

}  // namespace stint
