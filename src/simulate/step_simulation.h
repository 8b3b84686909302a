#pragma once

#include "plan/prediction.h"
#include "predict/step.h"
#include "simulate/collective_flows.h"

namespace stint {

/// Where the time of one iteration goes, played event by event: the twin of `step_parts`.
///
/// Every worker computes its micro-steps, all as late as the slowest (see `straggling`). A bucket
/// leaves when the last group has it, in order, at most `in_flight` at a time, as the flows of
/// collective_flows.h through NICs that all of them share.
///
/// The closed form lets each bucket have the links to itself, as slow as the slowest of them. The
/// twin agrees with it, at infinite sharpness, where that is so: one bucket in flight, and with
/// parameter servers equal VMs. It knows better where flows meet: VMs and servers of unequal
/// NICs, latencies that pass while other buckets move, pushes beside pulls.
///
/// For speed, one VM stands for its group; `Detail::kEachVm` plays them all, to the same end.
///
/// `sharpness` is ignored: it stands for times that vary from step to step, and these do not.
/// Same requirements as `step_parts`.
IterationParts simulate_step(const StepSetup& setup, Detail detail = Detail::kEachGroup);

}  // namespace stint
