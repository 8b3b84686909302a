#pragma once

#include "base/clock.h"
#include "optimise/question.h"
#include "plan/plan.h"

namespace stint {

/// The plan that comes nearest to a question that no plan keeps: constraints are left out one at a
/// time (budget, hourly budget, deadline, quotas), then all of them, until there is a plan, and
/// what was left out is what binds. Without the deadline it is the fastest plan, else the cheapest.
/// Infeasible when nothing can run the job whatever the constraints; `excluded` says why.
Result<NearestPlan> nearest_plan(const PlanQuestion& question, const Clock& clock);

/// Says with what probability the plan of `nearest` keeps the deadline and the budget, and by how
/// much it misses them at the confidence. The upper half of its interval says how wide its
/// time is; the lower may be cut short.
void state_misses(const Constraints& limits, NearestPlan& nearest);

}  // namespace stint
