#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "calibrate/forecast.h"

namespace stint {

/// What a further value is not above with probability `share`, if it comes from where `values` do:
/// the ⌈share (n + 1)⌉-th smallest of n, or the greatest where so few cannot say (Vovk et al. 2005,
/// split conformal prediction). Requires a value.
double conformal_quantile(std::vector<double> values, double share);

/// The deviation of log time that the interval of `forecast` says. Requires one.
double deviation_of(const Forecast& forecast);

/// How many deviations above its prediction a time lies at most, with probability `confidence`, for
/// a job that `train` has not seen on a cluster. The intervals of such a job are wide on purpose,
/// as few jobs are known; how wide is right is measured on the training rows alone. Each of their
/// jobs is left out as the new one is, and
///
///   z = ln(measured / predicted) / deviation
///
/// taken of its rows on several VMs. Rows of a job share its errors, so that jobs count and not
/// rows: the conformal quantile over jobs of the conformal quantile of z over a job's rows. With
/// fewer than two jobs to leave out, the normal quantile.
Result<double> unseen_quantile(std::span<const StepRow> train, const FitContext& context,
                               double confidence);

}  // namespace stint
