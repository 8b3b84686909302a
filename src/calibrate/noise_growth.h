#pragma once

#include <map>
#include <string>

#include "calibrate/convergence_runs.h"
#include "converge/noise_belief.h"

namespace stint {

/// How noise grows on the way to the level, from the runs of other jobs. For each job y(u) is the
/// mean over its runs of ln(Φ/B₀) − kNoisePower ln(B/B₀), on a line between records; the prior is
/// the mean over jobs, drawn to universal_noise_prior as if that were one job more, and so are the
/// deviations of the jobs' levels and of their shapes.
NoisePrior noise_growth(const std::map<std::string, TrainedJob>& jobs);

}  // namespace stint
