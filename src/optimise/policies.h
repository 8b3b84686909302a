#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "optimise/front.h"
#include "optimise/question.h"
#include "plan/plan.h"

namespace stint {

/// Index of the choice with the job's reference batch, or else the one nearest to it.
int reference_choice(const PlanQuestion& question);

/// The VMs and the batch of `config`, run as one would without a search: on as many accelerators as
/// the batch has samples for, in the fewest micro-steps that fit into memory. Nothing when the job
/// cannot run on them. Requires parts of one machine.
std::optional<Found> plain_run(const Evaluator& evaluator, Config config);

/// How others choose what to rent: each rents VMs of one type, and goes by the mean of what is
/// predicted.
///
/// - cheapest-first: the VM with the lowest price; as many as budget and quotas allow.
/// - fastest-first: the same of the VM that is fastest alone.
/// - deepvm: see deepvm.h; its budget is the hourly one.
/// - scavenger (CCGrid'23): of one given type all numbers of VMs and all batches; under a deadline
///   or budget the cheapest or fastest by the objective, otherwise the knee of the trade-off.
/// - single-on-demand: one VM on demand, the cheapest in time or, where none is, the fastest.
///
/// All but scavenger use the job's reference batch.
enum class Policy { kCheapestFirst, kFastestFirst, kDeepVm, kScavenger, kSingleOnDemand };

std::span<const EnumName<Policy>> names_of(Policy type);

struct PolicyRequest {
  Policy policy = Policy::kCheapestFirst;
  std::optional<std::string> vm = {};  // The type that scavenger is given.
};

/// The plan that the policy chooses, predicted as every plan is. Where its limits leave nothing,
/// the answer has the smallest cluster that the policy would rent as the nearest plan. Usage
/// errors: those of plan_space, and a VM type that is missing or cannot run the job. Infeasible:
/// nothing the policy could ever rent. `clock` only times it.
Result<PlanAnswer> plan_by_policy(const PlanQuestion& question, const PolicyRequest& request,
                                  const Clock& clock);

}  // namespace stint
