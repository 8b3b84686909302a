#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "base/random.h"
#include "base/result.h"
#include "calibrate/convergence_runs.h"
#include "calibrate/forecast.h"
#include "calibrate/step_belief.h"
#include "converge/noise_belief.h"
#include "optimise/search_mind.h"
#include "simulate/search_world.h"

namespace stint {

/// Stint's search while training, and baselines.
///
///   stint      times the present setup, uses the law of other jobs and the growth of noise of
///              other jobs, and moves by next_move until that stays; decides again after each tenth
///              of the progress
///   scavenger  times the ends of workers and of batch per worker in a fixed order, fits
///              T = c0 + c1 b + c2 K to them, assumes steps proportional to 1/√B, and moves to the
///              best setup by this model
///   random     times five setups drawn at random and moves to the best of them by AdaScale's law
///              with the measured noise
///   default    trains on the smallest cluster from the start, at the job's own batch
enum class SearchPolicy { kStint, kScavenger, kRandom, kDefault };

std::span<const EnumName<SearchPolicy>> names_of(SearchPolicy type);

/// A job to search for: its simulated world, and its prior.
struct SearchCase {
  SearchWorld world;
  std::vector<LawInput> inputs;  // Inputs of the setups.
  double reference_batch = 1;    // Batch of the noise.
  double steps = 1;              // Steps to the level at that batch, as its user would state them.
  FittedLaw law;                 // Of other jobs.
  ComputePrior compute;          // Of other jobs.
  NoisePrior noise;              // Of other jobs.
  bool size_known = false;       // The bytes of its gradients.
};

/// Measured setups and runs of one job as a world: the clusters of `rows` with the batches of
/// `runs`, where a cluster was measured at smaller and larger batches per worker or at the very
/// same one, on a line between. `job` is of the same runs.
SearchWorld search_world(std::span<const StepRow> rows, std::span<const ConvergenceRun> runs,
                         const TrainedJob& job);

/// The outcome of a training.
struct SearchTrial {
  Seconds time;
  Dollars cost;
  int probes = 0;
  int moves = 0;
};

/// Trains from setup `start` to the level.
Result<SearchTrial> search_by(SearchPolicy policy, const SearchCase& search,
                              SearchObjective objective, std::size_t start, Random random);

}  // namespace stint
