#pragma once

#include <functional>

#include "job/job.h"
#include "plan/prediction.h"
#include "predict/cluster_step.h"
#include "predict/resolve.h"

namespace stint {

/// Where the time of an iteration goes: step_parts, or its event-driven twin.
using IterationModel = std::function<IterationParts(const StepSetup&)>;

/// An answer with the setup that it is for.
struct Predicted {
  StepSetup setup;
  Prediction prediction;
};

/// The iteration, its interval, its cost and whether it fits into memory. Times are log-normal; the
/// interval holds the law's deviation (always by the closed form of one stream), that of a network
/// that was not measured, that of times carried over from another device, and that of batches
/// beyond twice the largest one measured. Its lower end is never below what a worker alone takes,
/// less what is unsure about that.
Predicted predict(const PredictContext& context, const ResolvedJob& resolved,
                  const IterationModel& model);

}  // namespace stint
