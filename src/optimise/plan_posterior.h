#pragma once

#include <vector>

#include "optimise/front.h"

namespace stint {

/// What doubt about the model means for a choice among plans.
struct Posterior {
  std::vector<double> p_best;  // Of each leader, in their order; they add up to 1.
  Dollars regret;              // Expected, of the first contender over the best of each world.
};

/// Draws worlds in which the law, the speed of devices that were not measured, the number of
/// iterations, the luck of single clusters and today's prices are each as likely as the calibration
/// holds them to be (plans on VMs of one type and market share its price), and asks in each which
/// of the `leaders` is best: the best plans of other VMs each. A plan that breaks the deadline pays
/// its time past it twice, one that breaks the budget what is above it twice.
///
/// The regret is what knowing the truth beforehand would save over the first leader, with the
/// `others` to choose from as well: no measurement is worth more. That a plan goes wrong is noticed
/// by the time its expected bill is spent, so no world counts more than that. It is in dollars, and
/// zero where time is the objective. Requires at least one leader.
Posterior posterior(const Evaluator& evaluator, const std::vector<Found>& leaders,
                    const std::vector<Found>& others);

}  // namespace stint
