#pragma once

#include <functional>

#include "job/job.h"
#include "plan/prediction.h"
#include "predict/law.h"
#include "predict/resolve.h"
#include "predict/step.h"

namespace stint {

/// The iteration under a law. Forward and backward are stretched by what workers do to each other:
/// `crowding` without its straggling, which stands apart as a deviation that makes the slowest of n
/// workers as late as the law says. All gradients are one stream from the start of backward,
/// because the law was fitted so: playing buckets errs far more on the rows it was fitted to. Where
/// `plays_buckets` is chosen, those of the profile leave when they are ready, each with the latency
/// of one: to be simulated or drawn. What hides communication is the profile's own backward, not
/// the law's share.
StepSetup step_setup(const JobProfile& job, const ResolvedJob& resolved, const FabricLaw& fabric,
                     const JobLaw& own);

/// Where the time of an iteration goes: step_parts, or its event-driven twin.
using StepModel = std::function<IterationParts(const StepSetup&)>;

/// An answer with the setup that it is for.
struct Predicted {
  StepSetup setup;
  Prediction prediction;
};

/// The iteration, its interval, its cost and whether it fits into memory. Times are log-normal; the
/// interval holds the law's deviation (always by the closed form of one stream), that of EFA, that
/// of times carried over from another device, and that of batches beyond twice the largest one
/// measured. Its lower end is never below what a worker alone takes, less what is unsure about
/// that.
Predicted predict(const PredictContext& context, const ResolvedJob& resolved,
                  const StepModel& model);

}  // namespace stint
