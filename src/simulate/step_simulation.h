#pragma once

#include "plan/prediction.h"
#include "predict/step.h"
#include "simulate/collective_flows.h"

namespace stint {

/// The parts of the time of one iteration, simulated event by event: the counterpart of
/// `step_parts`.
///
/// Every worker computes its micro-steps, all as late as the slowest (see `straggling`). A bucket
/// is sent when the last group has it, in order, at most `in_flight` at a time, as the flows of
/// collective_flows.h through shared NICs.
///
/// The closed form assumes that each bucket has the links to itself, as slow as the slowest of
/// them. The simulation agrees with it, at infinite sharpness, where that holds: one bucket in
/// flight, and with parameter servers equal VMs. It is more accurate where flows share links: VMs
/// and servers of unequal NICs, latencies that pass while other buckets move, pushes beside pulls.
///
/// For speed, one VM represents its group; `Detail::kEachVm` simulates them all, with the same
/// result.
///
/// `sharpness` is ignored: it represents times that vary from step to step, and these do not. Same
/// requirements as `step_parts`.
IterationParts simulate_step(const StepSetup& setup, Detail detail = Detail::kEachGroup);

}  // namespace stint
