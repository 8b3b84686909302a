#pragma once

#include "optimise/front.h"
#include "plan/plan.h"

namespace stint {

/// The cluster of a configuration. Regions are named where the question limits them, providers
/// where a name alone means several types.
Cluster cluster_of(const Evaluator& evaluator, const Config& config);

/// A configuration in full: predicted once more, by the predictor that `stint predict` asks, with
/// intervals, probabilities and the bill.
Plan plan_of(const Evaluator& evaluator, const Found& found);

/// What was asked, as the answer repeats it.
PlanGoal goal_of(const PlanQuestion& question);

/// What holds for every plan.
std::vector<std::string> assumptions_of(const Evaluator& evaluator, const std::vector<Plan>& plans);

}  // namespace stint
