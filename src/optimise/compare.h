#pragma once

#include "optimise/question.h"
#include "plan/plan.h"

namespace stint {

/// The plan of the question's job on one given cluster: the batch and the micro-steps that are best
/// by the objective, on all of its accelerators, or on as many as the batch has samples for. Limits
/// on what may be rented do not apply to it; the probabilities of deadline and budget are stated.
/// Where the cluster names no region, the one with the lowest price is meant. Usage errors: an
/// unknown VM type, more than two kinds of VMs, VMs of several providers. Infeasible, with the
/// reason: the job cannot run on it, or it has no price.
Result<Plan> plan_on(const PlanQuestion& question, const Cluster& cluster);

}  // namespace stint
