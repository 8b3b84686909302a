#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "plan/validation.h"

namespace stint {

struct PairsRequest {
  std::vector<std::string> train;
  std::vector<std::string> test;
  // "leave-one-job-out", "leave-one-job-type-out", "leave-one-pairing-out" or "fifths".
  std::string split;
  std::string baseline;  // Score "half-speed" or "mean-slowdown" instead of ours; empty: ours.
};

/// The prediction for one of two jobs, in the unit of its rate alone.
struct RateCells {
  std::optional<double> predicted;
  std::optional<double> p10;
  std::optional<double> p90;
};

/// The prediction for one pair.
struct PairLine {
  std::size_t row = 0;  // Of the packed tables one after the other, from 0.
  RateCells first;
  RateCells second;
  std::optional<double> fits;  // Probability; absent for devices of unknown memory.
  std::string note = {};
};

struct PairsReport {
  Validation validation;           // The requested model.
  std::vector<Validation> beside;  // Ours and the baselines, except the requested one.
  std::vector<PairLine> predictions;
};

/// Predicts the rate of each of two jobs that share a GPU freely (calibrate/space_sharing.h), and
/// whether both fit (calibrate/memory_mark_fit.h), and scores both jobs of each pair. Splits: every
/// pair of a job, at any of its batches, is predicted from the pairs without it; the same for a job
/// at one batch (Gavel's job type); every pair of two jobs at any batches from all others; or every
/// fifth row. A job is a model, as in other validations: holding it out at one batch would train on
/// its other batches. A pair of two jobs is predicted twice, once without each; scores are by the
/// held-out job, or by the job of the rate. The rates of all jobs alone are known. Pairs that do
/// not fit are not scored; those with Recommendation, or capped to the isolated rates, are scored
/// separately.
Result<PairsReport> validate_pairs(const Environment& environment, const PairsRequest& request);

/// A CSV of row, predicted_a, predicted_b, p10_a, p90_a, p10_b, p90_b, fits and note.
std::string pair_predictions_csv(std::span<const PairLine> lines);

}  // namespace stint
