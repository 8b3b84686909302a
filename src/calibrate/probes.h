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
/// With Σ the covariance of the unknowns, g_i the slopes of log time by them and v_i the noise of
/// one measurement, measuring row i reduces the summed variance of the rows t by
///
///   Σ_t (g_tᵀ Σ g_i)² / (g_iᵀ Σ g_i + v_i)
///
/// The row with the largest reduction is chosen, Σ is updated, and so on. Every row counts the
/// same, because the rows that a plan will use are not known here. Measured columns are not used;
/// rows for which nothing can be predicted are not chosen.
std::map<std::string, std::vector<std::size_t>> choose_probes(const FittedTable& table,
                                                              std::span<const StepRow> configs,
                                                              const JobFacts& facts, int count);

}  // namespace stint
