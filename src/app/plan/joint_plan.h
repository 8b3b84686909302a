#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/plan/plan_cases.h"
#include "load/environment.h"
#include "plan/sharing.h"

namespace stint {

struct PlanTogetherRequest {
  std::vector<std::string> jobs;        // Files, or names of shipped jobs; at least two.
  std::vector<Seconds> deadlines = {};  // None, one for all, or one for each.
  Constraints constraints = {};         // For each; the deadline and budget in it are ignored.
  std::string calibration = {};         // A file, or the name of a shipped one; empty: the default.
  std::string save = {};                // A folder to write a plan for each job to; empty: none.
  std::function<void(double done)> progress = {};  // Told the share of the work that is done.
};

/// More jobs than this take minutes: every two are assessed on many clusters.
inline constexpr std::size_t kJobsTogetherMax = 24;

struct PlanTogetherOutcome {
  TogetherAnswer answer;
  std::vector<std::string> files = {};     // The plan of each job, where they are saved.
  std::vector<std::string> warnings = {};  // Of what was read.
};

/// One bill for several jobs. Each has the cheapest plan for it alone; two of them may share a
/// cluster instead where that costs less by kSavingMin or more and keeps both deadlines. Which two
/// is a maximum-weight matching on the dollars saved.
///
/// Clusters to share are those of the best plans on demand of either job and their fronts, and the
/// same with half as many VMs again and with twice as many, each job at the global batch of its own
/// best plan. VMs of one type, on demand: what losses do to two jobs at once is not known. Quotas
/// hold, so under any only the clusters of plans themselves are looked at.
///
/// Plans that are saved are for `stint run`, those of two that share for its --interleave.
///
/// Usage errors: fewer than two jobs, another number of deadlines, and all that `stint plan` calls
/// one. A job that no plan suits is infeasible.
Result<PlanTogetherOutcome> plan_together(const Environment& environment,
                                          const PlanTogetherRequest& request,
                                          const Optimiser& optimiser = optimise);

}  // namespace stint
