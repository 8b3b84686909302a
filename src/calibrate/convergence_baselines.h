#pragma once

#include <optional>
#include <span>

#include "base/codec_fields.h"
#include "calibrate/convergence_runs.h"

namespace stint {

/// Other ways to tell the steps to a level, from the training runs of the job.
enum class StepsBaseline { kConstantSteps, kConstantSamples, kScavenger, kAdaScale };

std::span<const EnumName<StepsBaseline>> names_of(StepsBaseline type);

/// Steps at `batch`. The nearest run is the one whose batch is nearest in ratio.
///
///   constant steps    S of the nearest run
///   constant samples  S · B of the nearest run
///   Scavenger         samples = e* + θγ by least squares over the runs, γ = (B + KΦ)/(B + Φ) with
///                     K = 8 workers (the table does not say how many there were) and Φ the
///                     geometric mean of a run's records, at the new batch the nearest run's; one
///                     run gives constant samples
///   AdaScale          the sum of 1/r to the nearest run's progress, with the noise of that run
///                     as it is
///
/// Nothing where Scavenger's line falls to zero or below, and for the last two where a run has no
/// noise.
std::optional<double> baseline_steps(StepsBaseline baseline, const TrainedJob& job, double batch);

}  // namespace stint
