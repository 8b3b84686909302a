#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/codec_fields.h"
#include "base/result.h"
#include "calibrate/forecast.h"
#include "calibrate/sharded/sharded_fit.h"
#include "predict/law.h"

namespace stint {

/// What a row has that no row of its table in training has; the first that applies.
enum class Novelty {
  kGpu,
  kHidden,  // A job of another hidden size.
  kJob,
  kSoftware,
  kWorkers,   // More workers.
  kSequence,  // A longer sequence.
  kNone,
};

Novelty novelty_of(const ShardedRow& row, const CasePointers& train);

/// Predictions of rows from rows, with 80 % intervals: the deviation of the fit times factors that
/// are learned inside the training rows, by holding out in turn what a predicted row has that none
/// of them has (calibrate/held_out_width.h). So are the scales of neighbours, of a few. Of few
/// groups that were held out, the sides of the interval differ little.
class ShardedForecaster {
 public:
  /// Learns from `train`; `test` tells what intervals are needed for, and its times are not used.
  static Result<ShardedForecaster> fit(const CasePointers& train, const CasePointers& test,
                                       const ShardedPriors& priors);

  Forecast forecast(const ShardedCase& it) const;

 private:
  struct Learned {
    ShardedStepModel model;
    LogSpread factors;
  };

  CasePointers train_;
  std::map<Novelty, Learned> learned_;
};

/// Simple models, for comparison.
enum class ShardedBaseline {
  kPerfect,      // Tokens per second and GPU of the nearest training row of the job.
  kUtilisation,  // The median share of the peak over training rows of the same accelerator.
  kNoOverlap,    // The same law, fitted likewise, with all communication exposed.
};

std::span<const EnumName<ShardedBaseline>> names_of(ShardedBaseline type);

/// Forecasts by a baseline, one for each row of `test`; no intervals.
Result<std::vector<Forecast>> sharded_baseline(ShardedBaseline baseline, const CasePointers& train,
                                               const CasePointers& test,
                                               const ShardedPriors& priors);

}  // namespace stint
