#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/forecast.h"
#include "measure/tables/pair_table.h"
#include "measure/tables/step_formats.h"

namespace stint {

/// Published rates of jobs on one GPU: two at once, and alone.
struct PairTables {
  std::vector<PackedPair> pairs;
  std::vector<IsolatedRate> alone;
};

/// The rows of all `files`, one after the other; headers tell packed tables (model_a) and isolated
/// ones (batch_per_gpu) apart, and others are bad input.
Result<PairTables> read_pair_tables(const std::vector<std::string>& files);

/// Repeated measurements of this job differ by factors of up to 12, says the publisher. Its pairs
/// are unsteady.
inline constexpr const char* kUnsteadyJob = "Recommendation";

/// Gives jobs of `pairs` whose row does not say how fast they are alone the rate that `alone`, or
/// else another pair, has of them on the device. Of several the first counts. Where there is none
/// at the batch, it is worked out from the nearest batches of the job there:
///
///   step(b) = step(b₁) (b/b₁)^e,  e = log(step(b₂)/step(b₁)) / log(b₂/b₁) within 0 and 1
///
/// and e = 1 with a single one. Rates in other units come from pairs in such units only. Jobs of
/// pairs in steps are also given their usual rate alone, and that of each GPU at this batch on the
/// largest number of GPUs of one server that has a row, if it is more than one.
void fill_alone(std::vector<PackedPair>& pairs, std::span<const IsolatedRate> alone);

using Rows = std::vector<StepRow>;

/// What a table is read for: of one to predict, the measured columns are for scoring only.
enum class TableUse { kLearn, kPredict };

/// The rows of all `files`, one after the other. Times that no step can take are bad input where
/// they are learned from, and so are the unusable and unmeasured rows of Pollux's format; what is
/// wrong with a row to predict is left to the row.
Result<Rows> read_step_tables(StepFormat format, const std::vector<std::string>& files,
                              TableUse use);

/// What a fit needs: the job profiles of a file, or the shipped ones when it is empty, and the
/// priors of the network that the rows were measured on: those of physics, or with the name of a
/// calibration what it found, carried over.
Result<FitContext> fit_context(const std::string& jobs_file, const FabricFacts& fabric = {},
                               const std::string& calibration = "");

/// States the network that rows were measured on, where it is known and a row does not have it.
void set_network(const FabricFacts& fabric, Rows& rows);

/// The same facts, with the link inside where it is not stated: that of the rows with several
/// workers in a VM, when all VM types of the catalogue with several of their devices have the same.
/// Tables in Pollux's format do not name devices, so that nothing is known of theirs.
FabricFacts with_inside(FabricFacts fabric, StepFormat format, std::span<const StepRow> rows);

/// Rows that their publisher warns of. They are neither learned from nor counted; what is predicted
/// for them is scored apart under this name. Empty for all others.
std::string kept_apart(StepFormat format, const StepRow& row);

/// Leaves out the rows of clusters that are kept apart.
void drop_kept_apart(StepFormat format, Rows& rows);

}  // namespace stint
