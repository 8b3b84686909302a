#pragma once

#include <span>

#include "base/clock.h"
#include "optimise/question.h"
#include "plan/plan.h"

namespace stint {

/// A pass that `--disable-pass` can leave out; the answer is the same without those that only
/// prune, and worse without those that look for more.
struct PassName {
  const char* name;
  const char* help;
};

std::span<const PassName> switchable_passes();

/// The best plans, the front, and the bound: exact under the model. Where no plan keeps the
/// constraints the answer has no plans, but the nearest one. Usage errors: an unknown pass, and
/// those of plan_space. Infeasible: nothing in the catalogue that can run the job. `clock` only
/// times the passes. Requires a confidence within [0.5, 1), because bounds rely on the mean being
/// within the limits, and at most kPlannedVmsMax VMs.
Result<PlanAnswer> optimise(const PlanQuestion& question, const Clock& clock);

}  // namespace stint
