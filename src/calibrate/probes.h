#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "calibrate/forecast.h"

namespace stint {

/// For each job of `configs`, the numbers of the `count` rows to measure first: those that together
/// leave the least uncertainty about all rows of the job.
///
/// With Σ the covariance of what is not known, g_i the slopes of log time by it and v_i the noise
/// of one measurement, measuring row i takes
///
///   Σ_t (g_tᵀ Σ g_i)² / (g_iᵀ Σ g_i + v_i)
///
/// off the summed variance of the rows t; the row that takes most is chosen, Σ is updated, and so
/// on. Every row counts the same: which of them a plan will ask for is not known here. Measured
/// columns are not looked at; rows for which nothing can be predicted are not chosen.
std::map<std::string, std::vector<std::size_t>> choose_probes(const FittedTable& table,
                                                              std::span<const StepRow> configs,
                                                              const JobFacts& facts, int count);

}  // namespace stint
